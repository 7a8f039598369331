//! The errors of a script, on their way through Lua, with their places.

use mlua::{Lua, Value};

/// The name of every script in Lua's messages, and that of every library of functions.
pub(super) const CHUNK: &str = "@user_script";
pub(super) const LIBRARY: &str = "@user_function";

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
    let place = whereabouts(lua).map(|(chunk, line)| format!("{}:{line}: ", &chunk[1..])).unwrap_or_default();
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
    Ok(whereabouts(lua).map(|(_, line)| line))
}

/// The script or library that runs, and its line.
fn whereabouts(lua: &Lua) -> Option<(&'static str, usize)> {
    for level in 0.. {
        let at = lua.inspect_stack(level, |frame| {
            let source = frame.source().source?;
            let chunk = [CHUNK, LIBRARY].into_iter().find(|chunk| source == *chunk)?;
            Some((chunk, frame.current_line()?))
        });
        if let Some(found) = at? {
            return Some(found);
        }
    }
    None
}

/// What is wrong with code that does not compile; none if it is something else.
pub(super) fn syntax_error(error: &mlua::Error) -> Option<String> {
    match error {
        mlua::Error::SyntaxError { message, .. } => {
            Some(message.lines().next().unwrap_or_default().to_owned())
        }
        _ => None,
    }
}

pub(super) fn first_line(error: &mlua::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
