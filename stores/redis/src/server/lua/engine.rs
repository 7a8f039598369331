//! The interpreter of a thread: it compiles scripts, runs them, and stops those that do not end.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{
    Either, Function, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value,
    Variadic, VmState,
};

use super::admission::admit;
use super::convert::{reply, text_field};
use super::errors::{
    CHUNK, CallError, call_error, explain, first_line, is_counted, place, syntax_error, too_long,
};
use super::meter::{self, LOOK, Limit, MEMORY_MAX, kill};
use super::task::{self, Commands};
use super::{api, call, libs};
use crate::protocol::resp::Reply;
use crate::server::node::{Node, Script, Sha};
use crate::server::shebang::Flags;
use crate::server::version::Version;

/// So many arguments go to Lua one by one; a list is made of more.
const FEW: usize = 16;
/// How many compiled scripts a thread keeps.
const COMPILED_MAX: usize = 1_000;

/// The memory of an interpreter with nothing but its compiled scripts, in bytes: above it the garbage of a script is collected.
const MEMORY_KEPT: usize = 8 << 20;

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
        let version = node.store.version;
        let (function, grows) = engine.compiled(script)?;
        let running = admit(script.flags, node, read_only)?;
        let selected = node.store.selected;
        let limit = Limit { steps: node.config.patience(node.endless), is_over: node.config.watch_script() };
        task::begin(node, commands, running);
        engine.become_version(version);
        engine.limit_memory(grows);
        let result = engine.begin_to_count(limit).and_then(|()| engine.call(&function, keys, args));
        let (protocol, stopped) = task::end(node);
        node.store.selected = selected;
        meter::end();
        engine.sweep();
        if let Some(line) = stopped {
            let name = name(script);
            return Ok(Ending::Endless(Reply::Error(
                format!("ERR Script killed by user with SCRIPT KILL... script: {name}, on {CHUNK}:{line}.")
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
    say_version: Function,
    version: Option<Version>,
    /// The compiled scripts, and true for those that may take any amount of memory.
    compiled: BTreeMap<Sha, (Function, bool)>,
    /// True while the memory has a limit.
    limited: bool,
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
        natives.raw_set("lacking", lua.create_sequence_from(libs::LACKING)?)?;
        natives.raw_set("strings", libs::strings(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("@prelude");
        let (globals, runner, with_one, with_two, say_version) = prelude.call((&natives,))?;
        Ok(Engine {
            lua,
            globals,
            runner,
            short_runners: [with_one, with_two],
            say_version,
            version: None,
            compiled: BTreeMap::new(),
            limited: false,
        })
    }

    fn compiled(&mut self, script: &Script) -> Result<(Function, bool), Reply> {
        if let Some(compiled) = self.compiled.get(&script.sha) {
            return Ok(compiled.clone());
        }
        let (_, body) = Flags::split(&script.body)?;
        let function = self.compile(body).map_err(|text| {
            Reply::Error(format!("ERR Error compiling script (new function): {text}").into())
        })?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
        }
        let compiled = (function, grows(body));
        self.compiled.insert(script.sha, compiled.clone());
        Ok(compiled)
    }

    /// Compiles a script, or says what is wrong with it.
    fn compile(&self, code: &[u8]) -> Result<Function, String> {
        if let Some(text) = too_long(code) {
            return Err(text.to_owned());
        }
        let chunk = self.lua.load(code).set_name(CHUNK).set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk.set_environment(self.globals.clone()).into_function();
        function.map_err(|error| syntax_error(&error).unwrap_or_else(|| first_line(&error)))
    }

    /// Says to scripts what version of Redis this is.
    fn become_version(&mut self, version: Version) {
        if self.version != Some(version) {
            self.lua.remove_global_hook();
            self.version =
                self.say_version.call::<()>((version.text(), version.number())).ok().map(|()| version);
        }
    }

    fn list(&self, items: &[&[u8]]) -> mlua::Result<Table> {
        self.lua.create_sequence_from(items.iter().map(|item| string(item)))
    }

    fn call(&self, function: &Function, keys: &[&[u8]], args: &[&[u8]]) -> mlua::Result<(bool, Value)> {
        let few = || -> Variadic<_> { args.iter().map(|arg| string(arg)).collect() };
        let [with_one, with_two] = &self.short_runners;
        match keys {
            [key] if args.len() <= FEW => return with_one.call((function, string(key), few())),
            [first, second] if args.len() <= FEW => {
                return with_two.call((function, string(first), string(second), few()));
            }
            _ => {}
        }
        self.runner.call((function, self.list(keys)?, self.list(args)?))
    }

    /// Begins to count instructions, each of which the machine of Lua takes for one step. Setting the hook anew starts its count anew: how far an endless script gets must not
    /// depend on earlier ones.
    fn begin_to_count(&self, limit: Limit) -> mlua::Result<()> {
        let look = if limit.is_over.is_some() { LOOK } else { limit.steps.min(LOOK) };
        meter::begin(limit);
        let triggers = HookTriggers::new().every_nth_instruction(look);
        self.lua.set_global_hook(triggers, move |lua, _| {
            if meter::has_run(look) { kill(lua) } else { Ok(VmState::Continue) }
        })
    }

    /// Gives the memory its limit, or takes it away: with one, everything that is made for a script takes a call that can fail.
    fn limit_memory(&mut self, limited: bool) {
        let limit = if limited { MEMORY_MAX } else { 0 };
        if self.limited != limited && self.lua.set_memory_limit(limit).is_ok() {
            self.limited = limited;
        }
    }

    /// Collects the garbage of a script that has left much, so that it counts for no later one.
    fn sweep(&self) {
        if self.lua.used_memory() > MEMORY_KEPT {
            // Nothing of a script is collected by code of its own.
            let _ = self.lua.gc_collect();
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

/// True if a script may take more memory than a multiple of its own length: it repeats something, or reaches a library that makes
/// values of others. It need not be exact: a script with such a word in a literal has a limit as well.
fn grows(code: &[u8]) -> bool {
    const WORDS: [&str; 11] =
        ["..", "while", "for", "repeat", "function", "load", "string", "table", "_G", ":", "getmetatable"];
    WORDS.iter().any(|word| memchr::memmem::find(code, word.as_bytes()).is_some())
}

/// The name of a script in errors.
fn name(script: &Script) -> String {
    String::from_utf8_lossy(&script.sha.hex()).into_owned()
}

/// The reply to a script that failed with this table: its message, then where it was.
fn failure(script: &Script, error: &Value) -> Reply {
    let error = match error {
        Value::Table(error) => error,
        // Where there is no memory, the handler of errors does not run.
        Value::String(text) => return Reply::Error(format!("ERR {}", text.to_string_lossy()).into()),
        _ => return Reply::error("ERR execution failure"),
    };
    let message = text_field(error, "err").unwrap_or_else(|| "ERR unknown error".into());
    let line = error.raw_get::<Option<i64>>("line").ok().flatten();
    Reply::Error(match line {
        Some(line) => format!("{message} script: {}, on {CHUNK}:{line}.", name(script)).into(),
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
