//! A call of a library function: its arguments and its errors.

use mlua::{Lua, MultiValue, Value};

use super::super::errors::{call_error, own_error};

/// A call of a library function, which is named in errors.
pub(super) struct Call<'a> {
    pub(super) lua: &'a Lua,
    pub(super) name: &'static str,
    pub(super) args: &'a MultiValue,
    /// True for a function of Lua's own: its errors name it as the script does.
    pub(super) own: bool,
}

impl Call<'_> {
    pub(super) fn error(&self, text: &str) -> mlua::Error {
        if self.own { own_error(self.lua, text) } else { call_error(self.lua, text) }
    }

    /// An argument, counted from 1, is wrong. A method does not count the value that it is called on.
    pub(super) fn bad(&self, at: usize, text: &str) -> mlua::Error {
        if !self.own {
            return self.error(&format!("bad argument #{at} to '{}' ({text})", self.name));
        }
        let names = self.lua.inspect_stack(0, |frame| {
            let names = frame.names();
            (names.name.map(|name| name.into_owned()), names.name_what == Some("method"))
        });
        let (name, is_method) = names.unwrap_or_default();
        let name = name.as_deref().unwrap_or("?");
        self.error(&match at - usize::from(is_method) {
            0 => format!("calling '{name}' on bad self ({text})"),
            at => format!("bad argument #{at} to '{name}' ({text})"),
        })
    }

    pub(super) fn get(&self, at: usize) -> Option<&Value> {
        self.args.get(at - 1)
    }

    pub(super) fn mismatch(&self, at: usize, expected: &str) -> mlua::Error {
        let got = self.get(at).map_or("no value", type_name);
        self.bad(at, &format!("{expected} expected, got {got}"))
    }

    /// A number that may be left out.
    pub(super) fn number_or(&self, at: usize, default: f64) -> mlua::Result<f64> {
        if matches!(self.get(at), None | Some(Value::Nil)) { Ok(default) } else { self.number(at) }
    }

    pub(super) fn number(&self, at: usize) -> mlua::Result<f64> {
        let number = match self.get(at) {
            Some(value) => self.lua.coerce_number(value.clone())?,
            None => None,
        };
        number.ok_or_else(|| self.mismatch(at, "number"))
    }
}

/// The type of a value as Lua names it.
pub(in crate::server::lua) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) | Value::Number(_) => "number",
        Value::LightUserData(_) | Value::UserData(_) => "userdata",
        other => other.type_name(),
    }
}
