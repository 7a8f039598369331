//! Keys of any type (Redis 7.0 `db.c`).

use super::{SYNTAX, count};
use crate::protocol::resp::Reply;
use crate::server::glob;
use crate::server::store::{Store, Value};

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
