//! The functions of the `redis` table besides `call` and `pcall`, random numbers, and code loaded at run time (Redis 7.0
//! `script_lua.c`).

use mlua::{Lua, MultiValue, Table, Value};

use super::convert::value;
use super::errors::{Refused, call_error, first_line, syntax_error, too_long};
use super::meter::spend;
use super::task::{with_task, with_words};
use crate::protocol::resp::{Protocol, Reply};
use crate::server::node::Sha;

/// An error that is a table and names no place.
fn refuse(text: &str) -> mlua::Error {
    mlua::Error::external(Refused(format!("ERR {text}")))
}

fn coerced(lua: &Lua, args: &MultiValue, at: usize) -> mlua::Result<Option<f64>> {
    args.get(at).map_or(Ok(None), |value| lua.coerce_number(value.clone()))
}

/// Adds the functions to those that the prelude gets.
pub(super) fn define(lua: &Lua, natives: &Table) -> mlua::Result<()> {
    natives.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    natives.raw_set("setresp", lua.create_function(setresp)?)?;
    natives.raw_set("set_repl", lua.create_function(set_repl)?)?;
    natives.raw_set("log", lua.create_function(log)?)?;
    natives.raw_set("acl_check_cmd", lua.create_function(acl_check_cmd)?)?;
    natives.raw_set("random", lua.create_function(random)?)?;
    natives.raw_set("randomseed", lua.create_function(randomseed)?)?;
    natives.raw_set("compile", lua.create_function(compile)?)?;
    natives.raw_set("lacks", lua.create_function(lacks)?)?;
    Ok(())
}

fn sha1hex(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    if args.len() != 1 {
        return Err(refuse("wrong number of arguments"));
    }
    // What has no text counts as an empty one.
    let text = lua.coerce_string(args[0].clone())?;
    let sha = text.map_or_else(|| Sha::of(b""), |text| Sha::of(&text.as_bytes()));
    Ok(Value::String(lua.create_string(sha.hex())?))
}

fn setresp(lua: &Lua, args: MultiValue) -> mlua::Result<()> {
    if args.len() != 1 {
        return Err(refuse("redis.setresp() requires one argument."));
    }
    let protocol = match coerced(lua, &args, 0)?.map(f64::trunc) {
        Some(2.0) => Protocol::Two,
        Some(3.0) => Protocol::Three,
        _ => return Err(refuse("RESP version must be 2 or 3.")),
    };
    with_task(|task| task.protocol = protocol)
}

/// The flag of replication to replicas, and all flags: of the append-only file and of replicas.
const REPLICAS: i64 = 2;
const EVERYWHERE: i64 = 3;

/// Here replicas and the append-only file get the same: what is not for replicas is for nobody.
fn set_repl(lua: &Lua, args: MultiValue) -> mlua::Result<()> {
    if args.len() != 1 {
        return Err(refuse("redis.set_repl() requires two arguments."));
    }
    let flags = coerced(lua, &args, 0)?.unwrap_or(0.0) as i64;
    if flags & !EVERYWHERE != 0 {
        return Err(refuse("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."));
    }
    with_task(|task| task.silent = flags & REPLICAS == 0)
}

/// Nobody reads the log of a simulated node.
fn log(_: &Lua, args: MultiValue) -> mlua::Result<()> {
    if args.len() < 2 {
        return Err(refuse("redis.log() requires two arguments or more."));
    }
    let level = match &args[0] {
        Value::Integer(level) => *level as f64,
        Value::Number(level) => *level,
        _ => return Err(refuse("First argument must be a number (log level).")),
    };
    if !(0.0..4.0).contains(&level) {
        return Err(refuse("Invalid debug level."));
    }
    Ok(())
}

/// Everybody may do everything.
fn acl_check_cmd(_: &Lua, args: MultiValue) -> mlua::Result<bool> {
    let knows = with_task(|task| task.commands.knows)?;
    match with_words(&args, |words| Ok(knows(words[0]))) {
        Ok(true) => Ok(true),
        Ok(false) => Err(refuse("Invalid command passed to redis.acl_check_cmd()")),
        Err(Reply::Error(text)) => Err(mlua::Error::external(Refused(text.into_owned()))),
        Err(_) => Ok(false),
    }
}

fn number(lua: &Lua, args: &MultiValue, at: usize, name: &str) -> mlua::Result<f64> {
    coerced(lua, args, at)?.ok_or_else(|| {
        let got = args.get(at).map_or("no value", Value::type_name);
        call_error(lua, &format!("bad argument #{} to '{name}' (number expected, got {got})", at + 1))
    })
}

fn random(lua: &Lua, args: MultiValue) -> mlua::Result<f64> {
    let drawn = with_task(|task| task.node.store.script_random.draw())?;
    let (low, high) = match args.len() {
        0 => return Ok(drawn),
        1 => (1.0, number(lua, &args, 0, "random")?.trunc()),
        2 => (number(lua, &args, 0, "random")?.trunc(), number(lua, &args, 1, "random")?.trunc()),
        _ => return Err(call_error(lua, "wrong number of arguments")),
    };
    if low > high {
        let at = args.len();
        return Err(call_error(lua, &format!("bad argument #{at} to 'random' (interval is empty)")));
    }
    Ok((drawn * (high - low + 1.0)).floor() + low)
}

fn randomseed(lua: &Lua, args: MultiValue) -> mlua::Result<()> {
    let seed = number(lua, &args, 0, "randomseed")? as i64;
    with_task(|task| task.node.store.script_random.seed(seed as i32))
}

/// Refuses a script that uses a library which is not modelled.
fn lacks(_: &Lua, library: String) -> mlua::Result<()> {
    let refused = |reply| match reply {
        Reply::Error(text) => Err(mlua::Error::external(Refused(text.into_owned()))),
        _ => Ok(()),
    };
    with_task(|task| task.node.store.not_modelled(&format!("the Lua library {library}"))).and_then(refused)
}

/// Compiles code for a script, which sees these globals.
fn compile(
    lua: &Lua,
    (code, name, globals): (mlua::LuaString, mlua::LuaString, Table),
) -> mlua::Result<(Value, Value)> {
    spend(lua, 50 * code.as_bytes().len() as u64)?;
    if let Some(text) = too_long(&code.as_bytes()) {
        return Ok((Value::Nil, Value::String(lua.create_string(text)?)));
    }
    let chunk = lua.load(code.as_bytes().to_vec()).set_name(name.to_string_lossy());
    let chunk = chunk.set_mode(mlua::chunk::ChunkMode::Text).set_environment(globals);
    match chunk.into_function() {
        Ok(function) => Ok((Value::Function(function), Value::Nil)),
        Err(error) => match syntax_error(&error) {
            Some(text) => Ok((Value::Nil, Value::String(lua.create_string(text)?))),
            None => Ok((Value::Nil, value(lua, Reply::Error(first_line(&error).into()), Protocol::Two)?)),
        },
    }
}
