//! The errors of a script, on their way through Lua, with their places.

use mlua::{Lua, Value};

/// The name of every script in Lua's messages.
pub(super) const CHUNK: &str = "@user_script";

/// A command in a script that failed, on its way through Lua.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(pub(super) String);

/// A call of a function that went wrong, with the place where it was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CallError(pub(super) String);

/// The error of a library function, which names the place where it was called.
pub(super) fn call_error(lua: &Lua, text: &str) -> mlua::Error {
    let line = place(lua, ()).ok().flatten();
    let place = line.map(|line| format!("{}:{line}: ", &CHUNK[1..])).unwrap_or_default();
    mlua::Error::external(CallError(format!("{place}{text}")))
}

/// The table of an error that was counted where it arose.
pub(super) fn error_table(lua: &Lua, text: &str) -> mlua::Result<Value> {
    let table = lua.create_table()?;
    table.raw_set("err", text)?;
    table.raw_set(COUNTED, true)?;
    Ok(Value::Table(table))
}

/// The field by which the table of an error says that it was counted where it arose.
pub(super) const COUNTED: &str = "ignore_error_stats_update";

pub(super) fn is_counted(error: &Value) -> bool {
    error.as_table().is_some_and(|table| table.raw_get(COUNTED).unwrap_or(false))
}

/// The error that scripts see instead of one of the host language.
pub(super) fn explain(lua: &Lua, error: mlua::Error) -> mlua::Result<Value> {
    if let Some(CallError(text)) = error.downcast_ref() {
        return Ok(Value::String(lua.create_string(text)?));
    }
    match error.downcast_ref() {
        Some(Refused(text)) => error_table(lua, text),
        None => error_table(lua, &format!("ERR {}", first_line(&error))),
    }
}

/// The line of the script that runs, for an error handler.
pub(super) fn place(lua: &Lua, (): ()) -> mlua::Result<Option<usize>> {
    for level in 0.. {
        let line = lua.inspect_stack(level, |frame| {
            let ours = frame.source().source.is_some_and(|source| source == CHUNK);
            if ours { frame.current_line() } else { None }
        });
        match line {
            None => return Ok(None),
            Some(None) => {}
            Some(line) => return Ok(line),
        }
    }
    Ok(None)
}

pub(super) fn first_line(error: &mlua::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
