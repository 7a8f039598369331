//! Scripts: Lua 5.1 with Redis's conversions (Redis 7.0 `script_lua.c`).
//!
//! One interpreter serves all nodes of a thread, one script at a time, and is kept from run to run with its compiled
//! scripts: making one takes about as long as a whole short run. Nothing can leak from script to script, since they
//! cannot write to anything that outlives them: globals and libraries are read-only, and random numbers start over with
//! each script.
//!
//! A script takes no time of the node: Redis 7.0's rule that a key's validity is frozen at the script's start, while
//! TIME goes on, cannot be told from 7.2's, which freezes both. A script that takes more than a fixed number of
//! instructions is taken for an endless one: it is stopped there, and the node keeps up the appearance that it runs on,
//! with BUSY for everybody, until SCRIPT KILL. What it wrote until then is written, as in Redis.
//!
//! Left out on purpose: cjson, cmsgpack, bit and struct; loading code at run time; whatever shows a memory address or
//! the collector's state, which differ from run to run; script flags after `#!`.

mod convert;
mod random;

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{
    Either, Function, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value,
    VmState,
};

use self::convert::{reply, text_field, value};
use self::random::Random;
use super::node::Node;
use super::resp::{Reply, doubles};

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
    random: Random,
    /// The line at which it was stopped because it took too long.
    stopped: Option<usize>,
}

/// What became of a script.
pub(super) enum Ending {
    /// It ended with this reply.
    Replied(Reply),
    /// It does not end. When it is killed, this is the reply.
    Endless(Reply),
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

/// Runs a script on a node.
pub(super) fn run(node: &mut Node, script: &Script, keys: &[&[u8]], args: &[&[u8]]) -> Ending {
    let ended = with_engine(|engine| {
        let function = engine.compiled(script)?;
        let task = Task { node: std::mem::take(node), random: Random::default(), stopped: None };
        TASK.set(Some(task));
        let result = engine.call(&function, keys, args);
        let task = TASK.take().expect("the task was put there above, and only taken here");
        *node = task.node;
        if let Some(line) = task.stopped {
            let sha = script.sha.hex();
            let sha = String::from_utf8_lossy(&sha);
            return Ok(Ending::Endless(Reply::Error(
                format!("ERR Script killed by user with SCRIPT KILL... script: {sha}, on {CHUNK}:{line}.")
                    .into(),
            )));
        }
        match result {
            Ok((true, value)) => Ok(Ending::Replied(reply(value))),
            Ok((false, error)) => Err(failure(script, &error)),
            Err(error) => Err(Reply::Error(format!("ERR {}", first_line(&error)).into())),
        }
    });
    ended.unwrap_or_else(Ending::Replied)
}

/// Checks that a script compiles.
///
/// # Errors
/// The reply to give when it does not.
pub(super) fn check(script: &Script) -> Result<(), Reply> {
    with_engine(|engine| engine.compiled(script).map(|_| ()))
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
        natives.raw_set("draw", lua.create_function(|_, ()| Ok(with_random(Random::draw)))?)?;
        let seed = |_: &Lua, seed: i32| {
            with_random(|random| random.seed(seed));
            Ok(())
        };
        natives.raw_set("seed", lua.create_function(seed)?)?;
        natives.raw_set(
            "sha1hex",
            lua.create_function(|lua, text: LuaString| lua.create_string(Sha::of(&text.as_bytes()).hex()))?,
        )?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("@prelude");
        let (globals, runner) = prelude.call((natives,))?;
        Ok(Engine { lua, globals, runner, compiled: BTreeMap::new() })
    }

    fn compiled(&mut self, script: &Script) -> Result<Function, Reply> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let chunk =
            self.lua.load(script.body.as_slice()).set_name(CHUNK).set_mode(mlua::chunk::ChunkMode::Text);
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
    value(lua, on_task(&args)?)
}

/// Executes `redis.call(...)`. It is not written in Lua: `return redis.call(...)` would then be a tail call, and the
/// line of the failure forgotten.
fn call(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    match on_task(&args)? {
        Reply::Error(text) => Err(mlua::Error::external(Refused(text.into_owned()))),
        reply => value(lua, reply),
    }
}

fn on_task(args: &MultiValue) -> mlua::Result<Reply> {
    TASK.with_borrow_mut(|task| match task {
        Some(task) => Ok(execute(&mut task.node, args).unwrap_or_else(|error| error)),
        None => Err(mlua::Error::runtime("no script is running")),
    })
}

/// A command in a script that failed, on its way through Lua.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// The table that scripts see instead of an error of the host language.
fn explain(lua: &Lua, error: mlua::Error) -> mlua::Result<Value> {
    let refused = error.downcast_ref().map(|Refused(text)| text.clone());
    value(lua, Reply::Error(refused.unwrap_or_else(|| format!("ERR {}", first_line(&error))).into()))
}

fn execute(node: &mut Node, args: &MultiValue) -> Result<Reply, Reply> {
    if args.is_empty() {
        return Err(Reply::error("ERR Please specify at least one argument for this redis.call() call"));
    }
    let words: Vec<Word> = args
        .iter()
        .map(Word::of)
        .collect::<Option<_>>()
        .ok_or(Reply::error("ERR Lua redis lib command arguments must be strings or integers"))?;
    let words: Vec<&[u8]> = words.iter().map(Word::bytes).collect();
    node.call_from_script(&words)
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

/// The line of the script that runs, for an error handler.
fn place(lua: &Lua, (): ()) -> mlua::Result<Option<usize>> {
    for level in 1.. {
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

fn with_random<T: Default>(act: impl FnOnce(&mut Random) -> T) -> T {
    TASK.with_borrow_mut(|task| task.as_mut().map(|task| act(&mut task.random))).unwrap_or_default()
}
