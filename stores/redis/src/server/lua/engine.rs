//! The interpreter of a thread: it compiles scripts, runs them, and stops those that do not end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use mlua::{
    Either, Function, HookTriggers, IntoLua, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value,
    Variadic, VmState,
};

use super::admission::admit;
use super::code::Code;
use super::convert::{reply, text_field};
use super::errors::{
    CHUNK, CallError, LIBRARY, Refused, call_error, explain, first_line, is_counted, place, syntax_error,
    too_long,
};
use super::meter::{self, LOOK, Limit, MEMORY_MAX, kill};
use super::task::{self, Commands};
use super::{api, call, library, libs};
use crate::protocol::resp::Reply;
use crate::server::node::{Node, Script, Sha};
use crate::server::shebang::Flags;
use crate::server::store::{Functions, Library};
use crate::server::version::Version;

/// So many arguments go to Lua one by one; a list is made of more.
const FEW: usize = 16;
/// How many compiled scripts a thread keeps, and how many libraries before it looks which are gone.
const COMPILED_MAX: usize = 1_000;

/// The memory of an interpreter with nothing but its compiled scripts, in bytes: above it the garbage of a script is collected.
const MEMORY_KEPT: usize = 8 << 20;

/// After how many steps the code of a library that is loaded has taken too long: Redis gives it half a second.
const LOAD_STEPS: u32 = 50_000_000;

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

/// Loads a library of functions of an admitted name: runs its code, which registers them.
///
/// # Errors
/// The reply to give when it is none.
pub(crate) fn load(
    version: Version,
    code: &[u8],
    admits: impl FnOnce(&[u8]) -> Result<(), Reply>,
) -> Result<Arc<Library>, Reply> {
    let (name, _) = library::split(code)?;
    admits(&name)?;
    with_engine(|engine| {
        let registered = engine.register(version, code)?;
        if registered.is_empty() {
            return Err(Reply::error("ERR No functions registered"));
        }
        let functions = registered.iter().map(|(name, (function, _))| (name.clone(), function.clone()));
        let library = Arc::new(Library { name, code: code.to_vec(), functions: functions.collect() });
        engine.keep(&library, registered);
        Ok(library)
    })
}

/// Loads libraries of functions, of which no two have a name in common.
///
/// # Errors
/// The reply to give when one is none.
pub(crate) fn load_all(version: Version, codes: &[Vec<u8>]) -> Result<Functions, Reply> {
    let mut functions = Functions::default();
    for code in codes {
        functions.join(load(version, code, |_| Ok(()))?.into(), false)?;
    }
    Ok(functions)
}

/// Runs a script on a node. It may not write if its caller or its own flags say so.
pub(crate) fn run(
    node: &mut Node,
    commands: Commands,
    (code, read_only): (Code<'_>, bool),
    keys: &[&[u8]],
    args: &[&[u8]],
) -> Ending {
    let ended = with_engine(|engine| {
        let version = node.store.version;
        let (function, grows) = match code {
            Code::Script(script) => engine.compiled(script)?,
            Code::Function(library, name) => (engine.function(version, library, name)?, true),
        };
        let running = admit(code.flags(), node, read_only)?;
        let selected = node.store.selected;
        libs::json_options::reset();
        let limit = Limit { steps: node.config.patience(node.endless), is_over: node.config.watch_script() };
        task::begin(node, commands, running);
        engine.become_version(version);
        engine.limit_memory(grows);
        let result = engine.begin_to_count(limit).and_then(|()| match code {
            Code::Script(_) => engine.call(&function, keys, args),
            Code::Function(..) => engine.call_function(&function, keys, args),
        });
        let (protocol, stopped) = task::end(node);
        node.store.selected = selected;
        meter::end();
        engine.sweep();
        if let Some(line) = stopped {
            let (name, chunk) = code.names();
            return Ok(Ending::Endless(Reply::Error(
                format!("ERR Script killed by user with SCRIPT KILL... script: {name}, on {chunk}:{line}.")
                    .into(),
            )));
        }
        let (ended, value) =
            result.map_err(|error| Reply::Error(format!("ERR {}", first_line(&error)).into()))?;
        let counted = is_counted(&value);
        let reply = if ended { reply(value, protocol) } else { failure(code, &value) };
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

/// The functions of a library by name.
type Callable = BTreeMap<Vec<u8>, Function>;

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
    /// The globals that libraries see.
    library_globals: Table,
    /// Runs a function of a library with its keys and arguments, as `runner` does.
    function_runner: Function,
    /// Runs the code of a library, and gives the text of its failure.
    loader: Function,
    /// The functions of each library by name, under the address of the library, which may be gone.
    libraries: BTreeMap<usize, (Weak<Library>, Callable)>,
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
        natives.raw_set("strings", libs::strings(&lua)?)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("@prelude");
        let (globals, runner, with_one, with_two, say_version, library_globals, function_runner, loader) =
            prelude.call((&natives,))?;
        Ok(Engine {
            lua,
            globals,
            runner,
            short_runners: [with_one, with_two],
            say_version,
            version: None,
            compiled: BTreeMap::new(),
            limited: false,
            library_globals,
            function_runner,
            loader,
            libraries: BTreeMap::new(),
        })
    }

    fn compiled(&mut self, script: &Script) -> Result<(Function, bool), Reply> {
        if let Some(compiled) = self.compiled.get(&script.sha) {
            return Ok(compiled.clone());
        }
        let (_, body) = Flags::split(&script.body)?;
        let function = self.compile(body, CHUNK, &self.globals).map_err(|text| {
            Reply::Error(format!("ERR Error compiling script (new function): {text}").into())
        })?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
        }
        let compiled = (function, grows(body));
        self.compiled.insert(script.sha, compiled.clone());
        Ok(compiled)
    }

    /// Compiles code that sees these globals, or says what is wrong with it.
    fn compile(&self, code: &[u8], name: &str, globals: &Table) -> Result<Function, String> {
        if let Some(text) = too_long(code) {
            return Err(text.to_owned());
        }
        let chunk = self.lua.load(code).set_name(name).set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk.set_environment(globals.clone()).into_function();
        function.map_err(|error| syntax_error(&error).unwrap_or_else(|| first_line(&error)))
    }

    /// Runs the code of a library for the functions that it registers.
    fn register(&mut self, version: Version, code: &[u8]) -> Result<library::Registered, Reply> {
        let (_, body) = library::split(code)?;
        let failed = |text: String| Reply::Error(text.into());
        let code = self.compile(body, LIBRARY, &self.library_globals);
        let code = code.map_err(|text| failed(format!("ERR Error compiling function: {text}")))?;
        self.become_version(version);
        library::registered(|| {
            self.limit_memory(true);
            meter::begin(Limit { steps: LOAD_STEPS, is_over: None });
            let failure = self.stop_after(LOAD_STEPS).and_then(|()| self.loader.call::<Option<String>>(code));
            self.lua.remove_global_hook();
            meter::end();
            match failure {
                Ok(None) => Ok(()),
                Ok(Some(text)) => Err(failed(format!("ERR Error registering functions: {text}"))),
                Err(error) => Err(failed(format!("ERR Error registering functions: {}", first_line(&error)))),
            }
        })
    }

    /// Keeps the functions of a library as long as it is there.
    fn keep(&mut self, library: &Arc<Library>, registered: library::Registered) {
        if self.libraries.len() >= COMPILED_MAX {
            self.libraries.retain(|_, (library, _)| library.strong_count() > 0);
        }
        let functions = registered.into_iter().map(|(name, (_, function))| (name, function)).collect();
        self.libraries.insert(Arc::as_ptr(library).addr(), (Arc::downgrade(library), functions));
    }

    /// A function of a library, which is loaded anew where another thread has loaded it.
    fn function(&mut self, version: Version, library: &Arc<Library>, name: &[u8]) -> Result<Function, Reply> {
        // The address is that of this library and of no other: it is not used again while the weak reference is here.
        let address = Arc::as_ptr(library).addr();
        if !self.libraries.contains_key(&address) {
            let registered = self.register(version, &library.code)?;
            self.keep(library, registered);
        }
        let known = self.libraries.get(&address).and_then(|(_, functions)| functions.get(name));
        known.cloned().ok_or(Reply::error("ERR Function not found"))
    }

    /// Says to scripts what version of Redis this is.
    fn become_version(&mut self, version: Version) {
        if self.version != Some(version) {
            self.lua.remove_global_hook();
            self.version =
                self.say_version.call::<()>((version.text(), version.number())).ok().map(|()| version);
        }
    }

    fn call_function(
        &self,
        function: &Function,
        keys: &[&[u8]],
        args: &[&[u8]],
    ) -> mlua::Result<(bool, Value)> {
        self.function_runner.call((function, self.list(keys)?, self.list(args)?))
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

    /// Stops the code of a library after so many instructions; no pcall is there that could hold it up.
    fn stop_after(&self, steps: u32) -> mlua::Result<()> {
        let triggers = HookTriggers::new().every_nth_instruction(steps);
        self.lua.set_global_hook(triggers, |_, _| {
            Err(mlua::Error::external(Refused("ERR FUNCTION LOAD timeout".into())))
        })
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
    const WORDS: [&str; 14] = [
        "..",
        "while",
        "for",
        "repeat",
        "function",
        "load",
        "string",
        "table",
        "_G",
        "cjson",
        "cmsgpack",
        "struct",
        ":",
        "getmetatable",
    ];
    WORDS.iter().any(|word| memchr::memmem::find(code, word.as_bytes()).is_some())
}

/// The reply to a script that failed with this table: its message, then where it was.
fn failure(code: Code<'_>, error: &Value) -> Reply {
    let error = match error {
        Value::Table(error) => error,
        // Where there is no memory, the handler of errors does not run.
        Value::String(text) => return Reply::Error(format!("ERR {}", text.to_string_lossy()).into()),
        _ => return Reply::error("ERR execution failure"),
    };
    let message = text_field(error, "err").unwrap_or_else(|| "ERR unknown error".into());
    let line = error.raw_get::<Option<i64>>("line").ok().flatten();
    let (name, chunk) = code.names();
    Reply::Error(match line {
        Some(line) => format!("{message} script: {name}, on {chunk}:{line}.").into(),
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
