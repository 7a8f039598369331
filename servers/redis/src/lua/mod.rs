//! Scripts: Lua 5.1 with Redis's conversions (Redis 7.0 `script_lua.c`).
//!
//! One interpreter serves all nodes of a thread, one script at a time, and is kept from run to run with its compiled
//! scripts: making one takes about as long as a whole short run. Nothing can leak from script to script, since they
//! cannot write to anything that outlives them: globals and libraries are read-only.
//!
//! A key's validity is frozen at the script's start; what else a script reads of the clock goes on in 7.0, for scripts
//! that sleep or ask over and over ([`super::store`] says how), and is frozen too in 7.2. A script that takes more than a fixed number of
//! instructions is taken for an endless one: it is stopped there, and the node keeps up the appearance that it runs on,
//! with BUSY for everybody, until SCRIPT KILL. What it wrote until then is written, as in Redis.
//!
//! Left out on purpose: whatever shows a memory address or the collector's state, which differ from run to run: all
//! addresses are zero, and the collector's memory is always the same.

mod api;
mod convert;
mod libs;
mod random;
mod shebang;

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{
    Either, Function, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value,
    VmState,
};

use self::convert::{reply, text_field, value};
pub(super) use self::random::Random;
use self::shebang::Flags;
pub(super) use self::shebang::script_flags;
use super::node::{Node, Running};
use super::resp::{Protocol, Reply, doubles};

/// How many instructions a script may take: about as many as 10 ms allow.
const INSTRUCTIONS_MAX: u32 = 2_000_000;
/// How many compiled scripts a thread keeps.
const COMPILED_MAX: usize = 1_000;
/// The name of every script in Lua's messages.
const CHUNK: &str = "@user_script";

/// A script that a node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) sha: Sha,
    pub(super) body: Vec<u8>,
    /// What it says of itself.
    pub(super) flags: Flags,
}

impl Script {
    /// A script that compiles.
    ///
    /// # Errors
    /// The reply to give when it does not.
    pub(super) fn new(sha: Sha, body: &[u8]) -> Result<Script, Reply> {
        let flags = Flags::split(body)?.0;
        let script = Script { sha, body: body.to_vec(), flags };
        with_engine(|engine| engine.compiled(&script).map(|_| ()))?;
        Ok(script)
    }
}

/// The SHA-1 of a script, by which it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sha([u8; 20]);

impl Sha {
    pub(super) fn of(bytes: &[u8]) -> Sha {
        Sha(sha1_smol::Sha1::from(bytes).digest().bytes())
    }

    /// Reads 40 hexadecimal digits in any case.
    pub(super) fn parse(hex: &[u8]) -> Option<Sha> {
        let mut bytes = [0; 20];
        if hex.len() != 2 * bytes.len() {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Sha(bytes))
    }

    pub(super) fn hex(self) -> [u8; 40] {
        let mut hex = [0; 40];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        hex
    }
}

/// What a running script works on. Lua's callbacks cannot borrow, so the node moves here and back.
struct Task {
    node: Node,
    /// The protocol in which it sees replies and gives its own.
    protocol: Protocol,
    /// What it may do, and what it did.
    running: Running,
    /// True while what it writes is not propagated.
    silent: bool,
    /// The line at which it was stopped because it took too long.
    stopped: Option<usize>,
}

/// What became of a script.
pub(super) enum Ending {
    /// It ended with this reply; if that is an error, whether it was counted where it arose.
    Replied { reply: Reply, counted: bool },
    /// It does not end. When it is killed, this is the reply.
    Endless(Reply),
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

/// Runs a script on a node. It may not write if its caller or its own flags say so.
pub(super) fn run(
    node: &mut Node,
    script: &Script,
    read_only: bool,
    keys: &[&[u8]],
    args: &[&[u8]],
) -> Ending {
    let ended = with_engine(|engine| {
        let function = engine.compiled(script)?;
        let running = script.flags.admit(node, read_only)?;
        let selected = node.store.selected;
        let task = Task {
            node: std::mem::take(node),
            protocol: Protocol::Two,
            running,
            silent: false,
            stopped: None,
        };
        libs::json::reset();
        TASK.set(Some(task));
        let result = engine.call(&function, keys, args);
        let task = TASK.take().expect("the task was put there above, and only taken here");
        *node = task.node;
        node.store.selected = selected;
        if let Some(line) = task.stopped {
            let sha = script.sha.hex();
            let sha = String::from_utf8_lossy(&sha);
            return Ok(Ending::Endless(Reply::Error(
                format!("ERR Script killed by user with SCRIPT KILL... script: {sha}, on {CHUNK}:{line}.")
                    .into(),
            )));
        }
        let (value, reply) = match result {
            Ok((true, value)) => (value.clone(), reply(value, task.protocol)),
            Ok((false, error)) => (error.clone(), failure(script, &error)),
            Err(error) => return Err(Reply::Error(format!("ERR {}", first_line(&error)).into())),
        };
        Ok(Ending::Replied { reply, counted: is_counted(&value) })
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
    /// What scripts see as their globals.
    globals: Table,
    /// Calls a compiled script with KEYS and ARGV: true and its result, or false and a table of the error.
    runner: Function,
    compiled: BTreeMap<Sha, Function>,
}

impl Engine {
    fn new() -> mlua::Result<Engine> {
        let lua = Lua::new_with(StdLib::TABLE | StdLib::STRING | StdLib::MATH, LuaOptions::default())?;
        let natives = lua.create_table()?;
        natives.raw_set("call", lua.create_function(call)?)?;
        natives.raw_set("pcall", lua.create_function(pcall)?)?;
        natives.raw_set("explain", lua.create_function(explain)?)?;
        natives.raw_set("place", lua.create_function(place)?)?;
        natives.raw_set("walk", lua.create_function(walk)?)?;
        api::define(&lua, &natives)?;
        natives.raw_set("libraries", libs::all(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("@prelude");
        let (globals, runner) = prelude.call((&natives,))?;
        api::define_loaders(&lua, &natives, &globals)?;
        Ok(Engine { lua, globals, runner, compiled: BTreeMap::new() })
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

    fn call(&self, function: &Function, keys: &[&[u8]], args: &[&[u8]]) -> mlua::Result<(bool, Value)> {
        // Setting the hook anew starts its count anew: how far an endless script gets must not depend on earlier ones.
        let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_MAX);
        self.lua.set_global_hook(triggers, |lua, _| kill(lua))?;
        let list = |items: &[&[u8]]| self.lua.create_sequence_from(items.iter().map(|item| string(item)));
        self.runner.call((function, list(keys)?, list(args)?))
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
    TASK.with_borrow_mut(|task| {
        if let Some(task) = task {
            task.stopped.get_or_insert(line);
        }
    });
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |lua, _| kill(lua))?;
    Err(mlua::Error::runtime("Script killed by user with SCRIPT KILL."))
}

/// Executes `redis.pcall(...)`.
fn pcall(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    match on_task(&args)? {
        (Reply::Error(text), _) => error_table(lua, &text),
        (reply, protocol) => value(lua, reply, protocol),
    }
}

/// The table of an error that was counted where it arose.
fn error_table(lua: &Lua, text: &str) -> mlua::Result<Value> {
    let table = lua.create_table()?;
    table.raw_set("err", text)?;
    table.raw_set(COUNTED, true)?;
    Ok(Value::Table(table))
}

/// The field by which the table of an error says that it was counted where it arose.
const COUNTED: &str = "ignore_error_stats_update";

fn is_counted(error: &Value) -> bool {
    error.as_table().is_some_and(|table| table.raw_get(COUNTED).unwrap_or(false))
}

/// Executes `redis.call(...)`. It is not written in Lua: `return redis.call(...)` would then be a tail call, and the
/// line of the failure forgotten.
fn call(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    match on_task(&args)? {
        (Reply::Error(text), _) => Err(mlua::Error::external(Refused(text.into_owned()))),
        (reply, protocol) => value(lua, reply, protocol),
    }
}

/// Executes a command of the script that runs: the reply, and the protocol in which the script sees it.
fn on_task(args: &MultiValue) -> mlua::Result<(Reply, Protocol)> {
    with_task(|task| (execute(task, args).unwrap_or_else(|error| error), task.protocol))
}

fn with_task<T>(act: impl FnOnce(&mut Task) -> T) -> mlua::Result<T> {
    TASK.with_borrow_mut(|task| task.as_mut().map(act))
        .ok_or_else(|| mlua::Error::runtime("no script is running"))
}

/// A command in a script that failed, on its way through Lua.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// A call of a function that went wrong, with the place where it was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Complaint(String);

/// The error of a library function, which names the place where it was called.
fn complain(lua: &Lua, text: &str) -> mlua::Error {
    let line = place(lua, ()).ok().flatten();
    let place = line.map(|line| format!("{}:{line}: ", &CHUNK[1..])).unwrap_or_default();
    mlua::Error::external(Complaint(format!("{place}{text}")))
}

/// What scripts see instead of an error of the host language.
fn explain(lua: &Lua, error: mlua::Error) -> mlua::Result<Value> {
    if let Some(Complaint(text)) = error.downcast_ref() {
        return Ok(Value::String(lua.create_string(text)?));
    }
    match error.downcast_ref() {
        Some(Refused(text)) => error_table(lua, text),
        None => error_table(lua, &format!("ERR {}", first_line(&error))),
    }
}

/// Executes a command of a script.
fn execute(task: &mut Task, args: &MultiValue) -> Result<Reply, Reply> {
    with_words(args, |words| {
        let effects = &task.node.store.effects;
        let before = (effects.writes.len(), effects.parts.len());
        let result = task.node.call_from_script(&mut task.running, words);
        if task.silent {
            let effects = &mut task.node.store.effects;
            effects.writes.truncate(before.0);
            effects.parts.truncate(before.1);
        }
        result
    })
}

/// Reads the arguments of a command.
fn with_words<T>(args: &MultiValue, act: impl FnOnce(&[&[u8]]) -> Result<T, Reply>) -> Result<T, Reply> {
    if args.is_empty() {
        return Err(Reply::error("ERR Please specify at least one argument for this redis lib call"));
    }
    let words: Vec<Word> = args
        .iter()
        .map(Word::of)
        .collect::<Option<_>>()
        .ok_or(Reply::error("ERR Lua redis lib command arguments must be strings or integers"))?;
    let words: Vec<&[u8]> = words.iter().map(Word::bytes).collect();
    act(&words)
}

/// An argument of `redis.call`.
enum Word {
    String(mlua::BorrowedBytes),
    Number(String),
}

impl Word {
    fn of(value: &Value) -> Option<Word> {
        match value {
            Value::String(text) => Some(Word::String(text.as_bytes())),
            Value::Integer(number) => Some(Word::Number(doubles::text(*number as f64))),
            Value::Number(number) => Some(Word::Number(doubles::text(*number))),
            _ => None,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Word::String(bytes) => bytes,
            Word::Number(text) => text.as_bytes(),
        }
    }
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
            return Err(complain(lua, &format!("bad argument #1 to '{name}' (table expected, got {got})")));
        }
        walker.call::<MultiValue>(args).map_err(|error| {
            // The host language says of its own accord what kind of error it is.
            let text = first_line(&error);
            let text = text.strip_prefix("runtime error: ").unwrap_or(&text);
            mlua::Error::external(Complaint(text.to_owned()))
        })
    })
}

/// The line of the script that runs, for an error handler.
fn place(lua: &Lua, (): ()) -> mlua::Result<Option<usize>> {
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

fn first_line(error: &mlua::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
