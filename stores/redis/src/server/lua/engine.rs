//! The interpreter of a thread: it compiles scripts, runs them, and stops those that do not end.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{
    Either, Function, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value,
    Variadic, VmState,
};

use super::convert::{reply, text_field};
use super::errors::{CHUNK, CallError, call_error, explain, first_line, is_counted, place};
use super::task::{self, Commands, with_task};
use super::{api, call, libs};
use crate::protocol::resp::Reply;
use crate::server::node::{Flags, IsOver, MASTER_DOWN, NOT_ENOUGH_REPLICAS, Node, Running, Script, Sha};
use crate::server::version::Version;

/// So many arguments go to Lua one by one; a list is made of more.
const FEW: usize = 16;
/// How many compiled scripts a thread keeps.
const COMPILED_MAX: usize = 1_000;

/// After how many steps it is asked whether a script that is watched is to be stopped: some milliseconds.
const LOOK: u32 = 500_000;

/// How long a script may run: so many steps, or, if it is watched, until that says so.
struct Limit {
    steps: u32,
    is_over: Option<IsOver>,
}

/// The end of a script.
pub(crate) enum Ending {
    /// It ended with this reply; if that is an error, whether it was counted where it arose.
    Replied { reply: Reply, counted: bool },
    /// It does not end. When it is killed, this is the reply.
    Endless(Reply),
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// A script that compiles.
///
/// # Errors
/// The reply to give when it does not.
pub(crate) fn compile(sha: Sha, body: &[u8]) -> Result<Script, Reply> {
    let flags = Flags::split(body)?.0;
    let script = Script { sha, body: body.to_vec(), flags };
    with_engine(|engine| engine.compiled(&script).map(|_| ()))?;
    Ok(script)
}

/// Runs a script on a node. It may not write if its caller or its own flags say so.
pub(crate) fn run(
    node: &mut Node,
    commands: Commands,
    (script, read_only): (&Script, bool),
    keys: &[&[u8]],
    args: &[&[u8]],
) -> Ending {
    let ended = with_engine(|engine| {
        let function = engine.compiled(script)?;
        let running = admit(script.flags, node, read_only)?;
        let selected = node.store.selected;
        libs::json_options::reset();
        let version = node.store.version;
        let limit = Limit { steps: node.config.script_steps, is_over: node.config.watch_script() };
        task::begin(node, commands, running);
        let result = engine.call(&function, (version, limit), keys, args);
        let (protocol, stopped) = task::end(node);
        node.store.selected = selected;
        if let Some(line) = stopped {
            let sha = script.sha.hex();
            let sha = String::from_utf8_lossy(&sha);
            return Ok(Ending::Endless(Reply::Error(
                format!("ERR Script killed by user with SCRIPT KILL... script: {sha}, on {CHUNK}:{line}.")
                    .into(),
            )));
        }
        let (ended, value) =
            result.map_err(|error| Reply::Error(format!("ERR {}", first_line(&error)).into()))?;
        let counted = is_counted(&value);
        let reply = if ended { reply(value, protocol) } else { failure(script, &value) };
        Ok(Ending::Replied { reply, counted })
    });
    ended.unwrap_or_else(|reply| Ending::Replied { reply, counted: false })
}

/// The rights of the script on this node, called by a command that may be read-only.
///
/// # Errors
/// The reply to give when it may not.
fn admit(flags: Flags, node: &Node, read_only: bool) -> Result<Running, Reply> {
    if !flags.declared {
        return if node.is_stale() {
            Err(MASTER_DOWN)
        } else {
            Ok(Running { read_only, crosses_slots: true, ..Running::default() })
        };
    }
    if flags.no_cluster && node.cluster.is_some() {
        return Err(Reply::error("ERR Can not run script on cluster, 'no-cluster' flag is set."));
    }
    if node.is_stale() && !flags.allow_stale {
        return Err(Reply::error(
            "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag \
             is not set on the script.",
        ));
    }
    if !flags.no_writes {
        if node.is_read_only() {
            return Err(Reply::error("READONLY Can not run script with write flag on readonly replica"));
        }
        if read_only {
            return Err(Reply::error("ERR Can not execute a script with write flag using *_ro command."));
        }
        if node.lacks_replicas() {
            return Err(NOT_ENOUGH_REPLICAS);
        }
    }
    if node.lacks_memory() && !flags.allow_oom && !flags.no_writes {
        return Err(Reply::error(
            "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
        ));
    }
    Ok(Running {
        read_only: read_only || flags.no_writes,
        allows_oom: flags.allow_oom,
        crosses_slots: flags.crosses_slots,
        wrote: false,
    })
}

fn with_engine<T>(act: impl FnOnce(&mut Engine) -> Result<T, Reply>) -> Result<T, Reply> {
    ENGINE.with_borrow_mut(|slot| match slot {
        Some(engine) => act(engine),
        None => {
            let engine =
                Engine::new().map_err(|error| Reply::Error(format!("ERR {}", first_line(&error)).into()))?;
            act(slot.insert(engine))
        }
    })
}

/// A thread's interpreter.
struct Engine {
    lua: Lua,
    /// The globals that scripts see.
    globals: Table,
    /// Calls a compiled script with KEYS and ARGV: true and its result, or false and a table of the error.
    runner: Function,
    /// As `runner`, with one key, and with two, and the arguments as they are: for the few that most scripts have.
    short_runners: [Function; 2],
    /// Says to scripts what version of Redis this is, and which it said last.
    become_version: Function,
    version: Option<Version>,
    compiled: BTreeMap<Sha, Function>,
}

impl Engine {
    fn new() -> mlua::Result<Engine> {
        let lua = Lua::new_with(StdLib::TABLE | StdLib::STRING | StdLib::MATH, LuaOptions::default())?;
        let natives = lua.create_table()?;
        natives.raw_set("call", lua.create_function(call::call)?)?;
        natives.raw_set("pcall", lua.create_function(call::pcall)?)?;
        natives.raw_set("explain", lua.create_function(explain)?)?;
        natives.raw_set("place", lua.create_function(place)?)?;
        natives.raw_set("walk", lua.create_function(walk)?)?;
        api::define(&lua, &natives)?;
        natives.raw_set("libraries", libs::all(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("@prelude");
        let (globals, runner, with_one, with_two, become_version) = prelude.call((&natives,))?;
        api::define_loaders(&lua, &natives, &globals)?;
        Ok(Engine {
            lua,
            globals,
            runner,
            short_runners: [with_one, with_two],
            become_version,
            version: None,
            compiled: BTreeMap::new(),
        })
    }

    fn compiled(&mut self, script: &Script) -> Result<Function, Reply> {
        if let Some(compiled) = self.compiled.get(&script.sha) {
            return Ok(compiled.clone());
        }
        let (_, body) = Flags::split(&script.body)?;
        let chunk = self.lua.load(body).set_name(CHUNK).set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk.set_environment(self.globals.clone()).into_function().map_err(|error| {
            let text = match &error {
                mlua::Error::SyntaxError { message, .. } => {
                    message.lines().next().unwrap_or_default().to_owned()
                }
                other => first_line(other),
            };
            Reply::Error(format!("ERR Error compiling script (new function): {text}").into())
        })?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
        }
        self.compiled.insert(script.sha, function.clone());
        Ok(function)
    }

    fn call(
        &mut self,
        function: &Function,
        (version, limit): (Version, Limit),
        keys: &[&[u8]],
        args: &[&[u8]],
    ) -> mlua::Result<(bool, Value)> {
        if self.version != Some(version) {
            self.lua.remove_global_hook();
            self.become_version.call::<()>((version.text(), version.number()))?;
            self.version = Some(version);
        }
        self.begin_to_count(limit)?;
        let few = || -> Variadic<_> { args.iter().map(|arg| string(arg)).collect() };
        let [with_one, with_two] = &self.short_runners;
        match keys {
            [key] if args.len() <= FEW => return with_one.call((function, string(key), few())),
            [first, second] if args.len() <= FEW => {
                return with_two.call((function, string(first), string(second), few()));
            }
            _ => {}
        }
        let list = |items: &[&[u8]]| self.lua.create_sequence_from(items.iter().map(|item| string(item)));
        self.runner.call((function, list(keys)?, list(args)?))
    }

    /// Begins to count instructions, each of which the machine of Lua takes for one step. Setting the hook anew starts its count anew: how far an endless script gets must not
    /// depend on earlier ones.
    fn begin_to_count(&self, limit: Limit) -> mlua::Result<()> {
        match limit.is_over {
            None => {
                let triggers = HookTriggers::new().every_nth_instruction(limit.steps);
                self.lua.set_global_hook(triggers, |lua, _| kill(lua))
            }
            Some(is_over) => {
                let triggers = HookTriggers::new().every_nth_instruction(LOOK);
                self.lua.set_global_hook(
                    triggers,
                    move |lua, _| {
                        if is_over() { kill(lua) } else { Ok(VmState::Continue) }
                    },
                )
            }
        }
    }
}

/// Bytes on their way to Lua. UTF-8, which nearly all are, takes a shorter way there.
fn string(bytes: &[u8]) -> Either<&str, impl IntoLua> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Either::Left(text),
        Err(_) => Either::Right(LuaString::wrap(bytes)),
    }
}

/// Ends a script that takes too long. From now on every instruction fails, so that no pcall can hold it up.
fn kill(lua: &Lua) -> mlua::Result<VmState> {
    let line = place(lua, ())?.unwrap_or(1);
    // Even if no task is there to get the line, the script ends.
    let _ = with_task(|task| task.stopped.get_or_insert(line).to_owned());
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |lua, _| kill(lua))?;
    Err(mlua::Error::runtime("Script killed by user with SCRIPT KILL."))
}

/// The reply to a script that failed with this table: its message, then where it was.
fn failure(script: &Script, error: &Value) -> Reply {
    let Value::Table(error) = error else { return Reply::error("ERR execution failure") };
    let message = text_field(error, "err").unwrap_or_else(|| "ERR unknown error".into());
    let line = error.raw_get::<Option<i64>>("line").ok().flatten();
    let sha = script.sha.hex();
    let sha = String::from_utf8_lossy(&sha);
    Reply::Error(match line {
        Some(line) => format!("{message} script: {sha}, on {CHUNK}:{line}.").into(),
        None => message.into(),
    })
}

/// A function that walks through a table. It is not one of Lua for the same reason as `redis.call`.
fn walk(lua: &Lua, (name, walker): (String, Function)) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        let got = args.front();
        if !got.is_some_and(Value::is_table) {
            let got = got.map_or("no value", libs::type_name);
            return Err(call_error(lua, &format!("bad argument #1 to '{name}' (table expected, got {got})")));
        }
        walker.call::<MultiValue>(args).map_err(|error| {
            // The host language says of its own accord what kind of error it is.
            let text = first_line(&error);
            let text = text.strip_prefix("runtime error: ").unwrap_or(&text);
            mlua::Error::external(CallError(text.to_owned()))
        })
    })
}
