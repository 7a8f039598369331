//! Functions of Lua's own string library whose cost one call does not bound.
//!
//! Left out on purpose: the libraries that Redis adds for scripts ([`LACKING`]).

mod call;
mod patterns;
mod strings;

use mlua::{Lua, Table};

pub(super) use self::call::type_name;

/// The libraries of Redis that are not modelled. A script that reads anything of one is refused with its name.
pub(super) const LACKING: [&str; 4] = ["bit", "cjson", "cmsgpack", "struct"];

/// The functions that stand in the place of Lua's own in the string library.
pub(super) fn strings(lua: &Lua) -> mlua::Result<Table> {
    strings::library(lua)
}
