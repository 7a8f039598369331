//! `redis.call` and `redis.pcall`.

use mlua::{Lua, MultiValue, Value};

use super::convert::value;
use super::errors::{Refused, error_table};
use super::task::{Task, with_task, with_words};
use crate::protocol::resp::{Protocol, Reply};

/// Executes `redis.pcall(...)`.
pub(super) fn pcall(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    match on_task(&args)? {
        (Reply::Error(text), _) => error_table(lua, &text),
        (reply, protocol) => value(lua, reply, protocol),
    }
}

/// Executes `redis.call(...)`. It is not written in Lua: `return redis.call(...)` would then be a tail call, and the
/// line of the failure forgotten.
pub(super) fn call(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    match on_task(&args)? {
        (Reply::Error(text), _) => Err(mlua::Error::external(Refused(text.into_owned()))),
        (reply, protocol) => value(lua, reply, protocol),
    }
}

/// Executes a command of the script that runs: the reply, and the protocol in which the script sees it.
fn on_task(args: &MultiValue) -> mlua::Result<(Reply, Protocol)> {
    with_task(|task| (execute(task, args).unwrap_or_else(|error| error), task.protocol))
}

/// Executes a command of a script.
fn execute(task: &mut Task, args: &MultiValue) -> Result<Reply, Reply> {
    with_words(args, |words| {
        let effects = &task.node.store.effects;
        let before = (effects.writes.len(), effects.parts.len());
        let result = (task.commands.call)(&mut task.node, &mut task.running, words);
        if task.silent {
            let effects = &mut task.node.store.effects;
            effects.writes.truncate(before.0);
            effects.parts.truncate(before.1);
        }
        result
    })
}
