//! The errors of a script, on their way through Lua, with their places.

use mlua::{Lua, RegistryKey, Value};

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

/// An error of a script that has passed through a library function, as it was raised.
#[derive(Debug, thiserror::Error)]
#[error("an error of the script")]
pub(super) struct Thrown(RegistryKey);

/// The error that raises this value again.
pub(super) fn thrown(lua: &Lua, value: Value) -> mlua::Result<mlua::Error> {
    Ok(match value {
        Value::Error(error) => *error,
        value => mlua::Error::external(Thrown(lua.create_registry_value(value)?)),
    })
}

/// The error of a library function, which names the place where it was called.
pub(super) fn call_error(lua: &Lua, text: &str) -> mlua::Error {
    let place = whereabouts(lua).map(|line| format!("{}:{line}: ", &CHUNK[1..])).unwrap_or_default();
    mlua::Error::external(CallError(format!("{place}{text}")))
}

/// The error of a function of Lua's own: it names the place of the call if that is in a script.
pub(super) fn own_error(lua: &Lua, text: &str) -> mlua::Error {
    let place = lua.inspect_stack(1, |frame| {
        let line =
            frame.current_line().filter(|_| frame.source().source.is_some_and(|name| name == CHUNK))?;
        Some(format!("{}:{line}: ", &CHUNK[1..]))
    });
    mlua::Error::external(CallError(format!("{}{text}", place.flatten().unwrap_or_default())))
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
    if let mlua::Error::MemoryError(_) = cause(&error) {
        return Ok(Value::String(lua.create_string("not enough memory")?));
    }
    if let Some(Thrown(value)) = error.downcast_ref() {
        return lua.registry_value(value);
    }
    match error.downcast_ref() {
        Some(Refused(text)) => error_table(lua, text),
        None => error_table(lua, &format!("ERR {}", first_line(&error))),
    }
}

/// The error that has passed through calls.
fn cause(error: &mlua::Error) -> &mlua::Error {
    match error {
        mlua::Error::CallbackError { cause: inner, .. } => cause(inner),
        error => error,
    }
}

/// The line of the script that runs, for an error handler.
pub(super) fn place(lua: &Lua, (): ()) -> mlua::Result<Option<usize>> {
    Ok(whereabouts(lua))
}

/// The line of the script that runs.
fn whereabouts(lua: &Lua) -> Option<usize> {
    for level in 0.. {
        let at = lua.inspect_stack(level, |frame| {
            frame.current_line().filter(|_| frame.source().source.is_some_and(|name| name == CHUNK))
        });
        if let Some(found) = at? {
            return Some(found);
        }
    }
    None
}

/// The maximum number of jumps of a kind in a piece of code. The compiler goes through all earlier ones for each, so 50,000 take
/// seconds; Redis admits as many as its instructions can reach.
const JUMPS_MAX: usize = 5_000;

/// What is wrong with code that would take long to compile.
pub(super) fn too_long(code: &[u8]) -> Option<&'static str> {
    let count = |word: &str| memchr::memmem::find_iter(code, word).count();
    [
        ("elseif", "user_script:1: control structure too long near 'elseif'"),
        ("break", "user_script:1: control structure too long near 'break'"),
    ]
    .into_iter()
    .find(|(word, _)| count(word) > JUMPS_MAX)
    .map(|(_, text)| text)
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
