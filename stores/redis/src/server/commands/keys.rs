//! Keys of any type: deleting, renaming, copying, and the answers of OBJECT (Redis 7.0 `db.c`, `object.c`).

use super::{NOT_AN_INTEGER, SYNTAX, count, number, unknown_subcommand, wrong_arity};
use crate::protocol::resp::{self, Reply};
use crate::server::glob;
use crate::server::store::{DATABASES, Store, Value};

/// Deletes a key. True if it was there.
pub(crate) fn delete(store: &mut Store, key: &[u8]) -> bool {
    let removed = store.remove(key);
    if removed {
        store.changed(b'g', "del", key);
    }
    removed
}

pub(crate) fn del(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let removed = args[1..].iter().filter(|key| delete(store, key)).count();
    if removed > 0 {
        store.propagate(args);
    }
    Ok(count(removed))
}

pub(crate) fn exists(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(args[1..].iter().filter(|key| store.peek(key).is_some()).count()))
}

pub(crate) fn touch(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(args[1..].iter().filter(|key| store.get(key).is_some()).count()))
}

/// The name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::List(_) => "list",
        Value::Set(_) => "set",
        Value::SortedSet(_) => "zset",
        Value::Hash(_) => "hash",
    }
}

pub(crate) fn type_of(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Status(store.peek(args[1]).map_or("none", |entry| type_name(&entry.value)).into()))
}

pub(crate) fn dbsize(store: &mut Store, _: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.len()))
}

fn flush_mode(args: &[&[u8]]) -> Result<(), Reply> {
    let word = |arg: &[u8]| arg.eq_ignore_ascii_case(b"ASYNC") || arg.eq_ignore_ascii_case(b"SYNC");
    match args {
        [_] => Ok(()),
        [_, arg] if word(arg) => Ok(()),
        _ => Err(SYNTAX),
    }
}

pub(crate) fn flushall(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    flush_mode(args)?;
    store.clear();
    store.propagate(args);
    Ok(Reply::OK)
}

pub(crate) fn flushdb(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    flush_mode(args)?;
    store.clear_selected();
    store.propagate(args);
    Ok(Reply::OK)
}

pub(crate) fn keys(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let fitting = store.live_keys().filter(|(key, _)| glob::fits(args[1], key));
    Ok(Reply::Array(fitting.map(|(key, _)| Reply::Bulk(key.to_vec())).collect()))
}

const NO_KEY: Reply = Reply::error("ERR no such key");

pub(crate) fn rename(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    rename_key(store, args, true).map(|_| Reply::OK)
}

pub(crate) fn renamenx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    rename_key(store, args, false).map(|renamed| Reply::Integer(i64::from(renamed)))
}

fn rename_key(store: &mut Store, args: &[&[u8]], replace: bool) -> Result<bool, Reply> {
    let (from, to) = (args[1], args[2]);
    if store.find(from).is_none() {
        return Err(NO_KEY);
    }
    if from == to || !replace && store.find(to).is_some() {
        return Ok(false);
    }
    store.remove(to);
    if let Some(entry) = store.take(from) {
        store.put(to, entry);
    }
    store.changed(b'g', "rename_from", from);
    store.changed(b'g', "rename_to", to);
    store.propagate(args);
    Ok(true)
}

/// The number of a database.
fn database(arg: &[u8]) -> Result<usize, Reply> {
    let index = resp::integer(arg).and_then(|index| i32::try_from(index).ok()).ok_or(NOT_AN_INTEGER)?;
    let index = usize::try_from(index).ok().filter(|index| *index < DATABASES);
    index.ok_or(Reply::error("ERR DB index is out of range"))
}

const SAME_OBJECT: Reply = Reply::error("ERR source and destination objects are the same");

pub(crate) fn move_key(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let (source, target) = (store.selected, database(args[2])?);
    if source == target {
        return Err(SAME_OBJECT);
    }
    if store.find(key).is_none() {
        return Ok(Reply::Integer(0));
    }
    store.selected = target;
    let taken = store.find(key).is_some();
    store.selected = source;
    if taken {
        return Ok(Reply::Integer(0));
    }
    if let Some(entry) = store.take(key) {
        store.selected = target;
        store.put(key, entry);
        store.selected = source;
    }
    store.changed(b'g', "move_from", key);
    store.propagate(args);
    store.selected = target;
    store.changed(b'g', "move_to", key);
    store.selected = source;
    Ok(Reply::Integer(1))
}

pub(crate) fn copy(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (from, to) = (args[1], args[2]);
    let source = store.selected;
    let (mut target, mut replace) = (source, false);
    let mut rest = args[3..].iter();
    while let Some(option) = rest.next() {
        match () {
            () if option.eq_ignore_ascii_case(b"REPLACE") => replace = true,
            () if option.eq_ignore_ascii_case(b"DB") => target = database(rest.next().ok_or(SYNTAX)?)?,
            () => return Err(SYNTAX),
        }
    }
    if source == target && from == to {
        return Err(SAME_OBJECT);
    }
    let Some(entry) = store.get(from).cloned() else { return Ok(Reply::Integer(0)) };
    store.selected = target;
    let copied = replace || store.find(to).is_none();
    if copied {
        store.remove(to);
        store.put(to, entry);
        store.changed(b'g', "copy_to", to);
    }
    store.selected = source;
    if copied {
        store.propagate(args);
    }
    Ok(Reply::Integer(i64::from(copied)))
}

pub(crate) fn swapdb(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let index = |arg: &[u8], invalid| {
        let index =
            resp::integer(arg).and_then(|index| i32::try_from(index).ok()).ok_or(Reply::error(invalid))?;
        let index = usize::try_from(index).ok().filter(|index| *index < DATABASES);
        index.ok_or(Reply::error("ERR DB index is out of range"))
    };
    let invalid = ["ERR invalid first DB index", "ERR invalid second DB index"];
    number(args[1]).map_err(|_| Reply::error(invalid[0]))?;
    number(args[2]).map_err(|_| Reply::error(invalid[1]))?;
    let (a, b) = (index(args[1], invalid[0])?, index(args[2], invalid[1])?);
    store.swap_databases(a, b);
    store.propagate(args);
    Ok(Reply::OK)
}
