//! The libraries that Redis gives to scripts besides Lua's own: bit, cjson, cmsgpack and struct. And functions of Lua's own.
//!
//! Results, error texts and limits are those of the libraries in Redis 7.0. Options that a script sets in cjson last until
//! the end of the script; in Redis they last until the server ends.

mod bit;
mod call;
mod cmsgpack;
mod json;
mod json_decode;
pub(super) mod json_options;
mod patterns;
mod strings;
mod structs;

use mlua::{Lua, Table};

pub(super) use self::call::type_name;

/// The libraries by name.
pub(super) fn all(lua: &Lua) -> mlua::Result<Table> {
    let libraries = lua.create_table()?;
    libraries.raw_set("bit", bit::library(lua)?)?;
    libraries.raw_set("cjson", json::library(lua)?)?;
    libraries.raw_set("cmsgpack", cmsgpack::library(lua)?)?;
    libraries.raw_set("struct", structs::library(lua)?)?;
    Ok(libraries)
}

/// The functions that stand in the place of Lua's own in the string library.
pub(super) fn strings(lua: &Lua) -> mlua::Result<Table> {
    strings::library(lua)
}
