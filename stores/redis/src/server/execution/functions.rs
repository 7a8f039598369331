//! Functions, which libraries register: FUNCTION, FCALL and FCALL_RO (Redis 7.0 `functions.c`).
//!
//! Libraries belong to the dataset: a primary's replicas and its files get them.

use std::sync::Arc;

use super::scripting::{kill, run, split};
use crate::protocol::resp::{Reply, integer};
use crate::server::commands::{help, subcommand_syntax};
use crate::server::glob;
use crate::server::lua::{self, Code};
use crate::server::node::{Answer, Node, SessionId};
use crate::server::rdb;
use crate::server::store::{Library, Store};

pub(crate) fn fcall(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    call(node, id, args, false)
}

pub(crate) fn fcall_ro(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    call(node, id, args, true)
}

fn call(node: &mut Node, id: SessionId, args: &[&[u8]], read_only: bool) -> Result<Answer, Reply> {
    let found = node.store.functions.find(args[1]);
    let (library, name) = found.ok_or(Reply::error("ERR Function not found"))?;
    let (library, name) = (Arc::clone(library), name.to_vec());
    let count = integer(args[2]).ok_or(Reply::error("ERR Bad number of keys provided"))?;
    let (keys, rest) = split(count, args)?;
    Ok(run(node, id, (Code::Function(&library, &name), read_only), args, (keys, rest)))
}

pub(crate) fn function(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match () {
        () if is(b"LIST") => list(&node.store, &args[2..])?,
        () if is(b"STATS") => stats(node)?,
        () if is(b"DUMP") => {
            let libraries = node.store.functions.libraries();
            Reply::Bulk(rdb::dump_libraries(libraries.map(|library| library.code.as_slice())))
        }
        () if is(b"KILL") => kill(node, true)?,
        () if is(b"HELP") => help("function", node.store.version),
        () => change(&mut node.store, args)?,
    };
    Ok(reply.into())
}

/// The subcommands that change libraries, for a client or from the stream of a primary.
///
/// # Errors
/// The reply to give when nothing is changed.
pub(crate) fn change(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match () {
        () if is(b"LOAD") => load(store, &args[2..])?,
        () if is(b"DELETE") && args.get(2).is_some_and(|name| store.functions.remove(name)) => Reply::OK,
        () if is(b"DELETE") => return Err(Reply::error("ERR Library not found")),
        () if is(b"FLUSH") => {
            let modes: [&[u8]; 2] = [b"ASYNC", b"SYNC"];
            let good = |mode: &&[u8]| modes.iter().any(|known| mode.eq_ignore_ascii_case(known));
            if args.len() > 3 {
                return Err(subcommand_syntax("FUNCTION", args[1]));
            }
            if !args[2..].iter().all(good) {
                return Err(Reply::error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
            }
            store.functions.clear();
            Reply::OK
        }
        () if is(b"RESTORE") => restore(store, args)?,
        () => return Ok(help("function", store.version)),
    };
    store.propagate(args);
    Ok(reply)
}

fn load(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (code, options) = args.split_last().ok_or(Reply::error("ERR Function code is missing"))?;
    if let Some(unknown) = options.iter().find(|option| !option.eq_ignore_ascii_case(b"REPLACE")) {
        let unknown = String::from_utf8_lossy(unknown);
        return Err(Reply::Error(format!("ERR Unknown option given: {unknown}").into()));
    }
    let library = lua::load(store.version, code, |name| {
        if !options.is_empty() || !store.functions.has(name) {
            return Ok(());
        }
        let name = String::from_utf8_lossy(name);
        Err(Reply::Error(format!("ERR Library '{name}' already exists").into()))
    })?;
    let name = library.name.clone();
    store.functions.join(library.into(), true)?;
    Ok(Reply::Bulk(name))
}

fn restore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let [_, _, payload, policy @ ..] = args else { return Err(subcommand_syntax("FUNCTION", args[1])) };
    let (flush, replace) = match policy {
        [] => (false, false),
        [policy] if policy.eq_ignore_ascii_case(b"APPEND") => (false, false),
        [policy] if policy.eq_ignore_ascii_case(b"REPLACE") => (false, true),
        [policy] if policy.eq_ignore_ascii_case(b"FLUSH") => (true, false),
        [_] => {
            return Err(Reply::error(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
        _ => return Err(subcommand_syntax("FUNCTION", args[1])),
    };
    let codes = rdb::restore_libraries(payload).map_err(Reply::error)?;
    let libraries = lua::load_all(store.version, &codes)?;
    if flush {
        store.functions.clear();
    }
    store.functions.join(libraries, replace)?;
    Ok(Reply::OK)
}

fn pair(name: &str, value: Reply) -> (Reply, Reply) {
    (Reply::text(name), value)
}

fn bulk(bytes: &[u8]) -> Reply {
    Reply::Bulk(bytes.to_vec())
}

/// The libraries whose names fit a pattern, with their code if asked for.
fn list(store: &Store, mut args: &[&[u8]]) -> Result<Reply, Reply> {
    let (mut pattern, mut with_code) = (None, false);
    while let [option, rest @ ..] = args {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        args = match rest {
            _ if is(b"WITHCODE") && !with_code => {
                with_code = true;
                rest
            }
            [name, rest @ ..] if is(b"LIBRARYNAME") && pattern.is_none() => {
                pattern = Some(*name);
                rest
            }
            [] if is(b"LIBRARYNAME") && pattern.is_none() => {
                return Err(Reply::error("ERR library name argument was not given"));
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Err(Reply::Error(format!("ERR Unknown argument {option}").into()));
            }
        };
    }
    // Capitals and small letters are the same here.
    let fits = |name: &[u8]| {
        pattern.is_none_or(|pattern| glob::fits(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase()))
    };
    let shown = store.functions.libraries().filter(|library| fits(&library.name));
    Ok(Reply::Array(shown.map(|library| describe(library, with_code)).collect()))
}

fn describe(library: &Library, with_code: bool) -> Reply {
    let functions = library.functions.iter().map(|(name, function)| {
        let description = function.description.as_deref().map_or(Reply::Nil, bulk);
        let flags = function.flags.names().map(|name| Reply::Status(name.into())).collect();
        Reply::Map(vec![
            pair("name", bulk(name)),
            pair("description", description),
            pair("flags", Reply::Set(flags)),
        ])
    });
    let mut facts = vec![
        pair("library_name", bulk(&library.name)),
        pair("engine", Reply::text("LUA")),
        pair("functions", Reply::Array(functions.collect())),
    ];
    if with_code {
        facts.push(pair("library_code", bulk(&library.code)));
    }
    Reply::Map(facts)
}

/// The function that runs, and how many there are.
fn stats(node: &Node) -> Result<Reply, Reply> {
    let running = match &node.busy {
        Some(busy) => match &busy.function {
            None => return Err(busy.refusal()),
            Some(function) => Reply::Map(vec![
                pair("name", bulk(&function.name)),
                pair("command", Reply::Array(function.command.iter().map(|word| bulk(word)).collect())),
                pair("duration_ms", Reply::Integer(node.store.now_ms() - busy.since_ms)),
            ]),
        },
        None => Reply::Nil,
    };
    let count = |count: usize| Reply::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let functions = &node.store.functions;
    let counts = vec![
        pair("libraries_count", count(functions.libraries().len())),
        pair("functions_count", count(functions.len())),
    ];
    let engines = Reply::Map(vec![pair("LUA", Reply::Map(counts))]);
    Ok(Reply::Map(vec![pair("running_script", running), pair("engines", engines)]))
}
