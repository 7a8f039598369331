//! Libraries of functions: their first line, and the functions that their code registers (Redis 7.0 `functions.c`, `function_lua.c`).

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{Lua, MultiValue, Table, Value};

use super::errors::Refused;
use crate::protocol::resp::{Reply, split_words};
use crate::server::shebang::Flags;
use crate::server::store::Function;

/// The functions that a library has registered so far, as values of the interpreter, by name.
pub(super) type Registered = BTreeMap<Vec<u8>, (Function, mlua::Function)>;

thread_local! {
    /// The functions of the library that is loaded now.
    static LOADING: RefCell<Option<Registered>> = const { RefCell::new(None) };
}

/// The name and the code to compile: the lines after the first, so that lines are counted from there.
///
/// # Errors
/// The reply to give when the first line is wrong.
pub(super) fn split(code: &[u8]) -> Result<(Vec<u8>, &[u8]), Reply> {
    if !code.starts_with(b"#!") {
        return Err(Reply::error("ERR Missing library metadata"));
    }
    let end = code.iter().position(|byte| *byte == b'\n');
    let invalid = Reply::error("ERR Invalid library metadata");
    let (line, rest) = code.split_at(end.ok_or_else(|| invalid.clone())?);
    let words = split_words(line).filter(|words| !words.is_empty()).ok_or(invalid)?;
    let mut name = None;
    for word in &words[1..] {
        match word.split_at_checked(5) {
            Some((option, _)) if option.eq_ignore_ascii_case(b"name=") && name.is_some() => {
                return Err(Reply::error(
                    "ERR Invalid metadata value, name argument was given multiple times",
                ));
            }
            Some((option, value)) if option.eq_ignore_ascii_case(b"name=") => name = Some(value.to_vec()),
            _ => {
                let word = String::from_utf8_lossy(word);
                return Err(Reply::Error(format!("ERR Invalid metadata value given: {word}").into()));
            }
        }
    }
    let name = name.ok_or(Reply::error("ERR Library name was not given"))?;
    if !is_name(&name) {
        return Err(Reply::Error(format!("ERR {NAME}").into()));
    }
    let engine = &words[0][2..];
    if !engine.eq_ignore_ascii_case(b"lua") {
        let engine = String::from_utf8_lossy(engine);
        return Err(Reply::Error(format!("ERR Engine '{engine}' not found").into()));
    }
    Ok((name, rest))
}

/// The rule for names of libraries, which is that for names of functions, in Redis's words.
const NAME: &str = "Library names can only contain letters, numbers, or underscores(_) and must be at least one \
                    character long";

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Collects the functions that are registered meanwhile.
pub(super) fn registered<T>(load: impl FnOnce() -> Result<T, Reply>) -> Result<Registered, Reply> {
    LOADING.replace(Some(Registered::new()));
    let loaded = load();
    let registered = LOADING.take().unwrap_or_default();
    loaded.map(|_| registered)
}

/// Executes `redis.register_function(...)`.
pub(super) fn register(lua: &Lua, args: MultiValue) -> mlua::Result<()> {
    let refuse = |text: &str| mlua::Error::external(Refused(format!("ERR {text}")));
    if LOADING.with_borrow(Option::is_none) {
        return Err(refuse("redis.register_function can only be called on FUNCTION LOAD command"));
    }
    let asked = match args.iter().collect::<Vec<_>>()[..] {
        [Value::Table(named)] => named_arguments(lua, named),
        [_] => Err("calling redis.register_function with a single argument is only applicable to Lua table \
                    (representing named arguments)."),
        [name, callback] => positional_arguments(lua, name, callback),
        _ => Err("wrong number of arguments to redis.register_function"),
    };
    let (name, function, callback) = asked.map_err(refuse)?;
    if !is_name(&name) {
        return Err(refuse(NAME));
    }
    LOADING.with_borrow_mut(|loading| match loading {
        Some(registered) if !registered.contains_key(&name) => {
            registered.insert(name, (function, callback));
            Ok(())
        }
        _ => Err(refuse("Function already exists in the library")),
    })
}

type Asked = Result<(Vec<u8>, Function, mlua::Function), &'static str>;

/// A text, or a number as one.
fn text(lua: &Lua, value: &Value) -> Option<Vec<u8>> {
    let text = lua.coerce_string(value.clone()).ok().flatten();
    text.map(|text| text.as_bytes().to_vec())
}

fn positional_arguments(lua: &Lua, name: &Value, callback: &Value) -> Asked {
    let name = text(lua, name).ok_or("first argument to redis.register_function must be a string")?;
    match callback {
        Value::Function(callback) => {
            Ok((name, Function { flags: declared(), description: None }, callback.clone()))
        }
        _ => Err("second argument to redis.register_function must be a function"),
    }
}

/// A function always says what it may do.
fn declared() -> Flags {
    Flags { declared: true, ..Flags::default() }
}

fn named_arguments(lua: &Lua, named: &Table) -> Asked {
    let (mut name, mut callback) = (None, None);
    let mut function = Function { flags: declared(), description: None };
    for pair in named.pairs::<Value, Value>() {
        let (key, value) = pair.map_err(|_| "unknown argument given to redis.register_function")?;
        let key =
            text(lua, &key).ok_or("named argument key given to redis.register_function is not a string")?;
        match key.to_ascii_lowercase().as_slice() {
            b"function_name" => {
                let given = text(lua, &value);
                name = Some(
                    given
                        .ok_or("function_name argument given to redis.register_function must be a string")?,
                );
            }
            b"description" => {
                let given = text(lua, &value);
                let refused = "description argument given to redis.register_function must be a string";
                function.description = Some(given.ok_or(refused)?);
            }
            b"callback" => match value {
                Value::Function(given) => callback = Some(given),
                _ => return Err("callback argument given to redis.register_function must be a function"),
            },
            b"flags" => match value {
                Value::Table(names) => function.flags = flags(lua, &names).ok_or("unknown flag given")?,
                _ => {
                    return Err(
                        "flags argument to redis.register_function must be a table representing function flags",
                    );
                }
            },
            _ => return Err("unknown argument given to redis.register_function"),
        }
    }
    let name = name.ok_or("redis.register_function must get a function name argument")?;
    Ok((name, function, callback.ok_or("redis.register_function must get a callback argument")?))
}

fn flags(lua: &Lua, names: &Table) -> Option<Flags> {
    let mut flags = declared();
    for name in names.sequence_values::<Value>() {
        let name = text(lua, &name.ok()?)?;
        if !flags.set(&String::from_utf8(name).ok()?.to_ascii_lowercase()) {
            return None;
        }
    }
    Some(flags)
}
