//! Strings as counters (Redis 7.0 `t_string.c`).

use super::{digits, number};
use crate::protocol::resp::Reply;
use crate::server::store::Store;

pub(crate) fn incr(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args, 1)
}

pub(crate) fn decr(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args, -1)
}

pub(crate) fn incrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args, number(args[2])?)
}

pub(crate) fn decrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let by = number(args[2])?.checked_neg().ok_or(Reply::error("ERR decrement would overflow"))?;
    add(store, args, by)
}

fn add(store: &mut Store, args: &[&[u8]], by: i64) -> Result<Reply, Reply> {
    let key = args[1];
    let value = match store.found::<Vec<u8>>(key)? {
        Some(text) => number(text)?,
        None => 0,
    };
    let sum = value.checked_add(by).ok_or(Reply::error("ERR increment or decrement would overflow"))?;
    *store.make::<Vec<u8>>(key)? = digits(sum);
    store.changed(b'$', "incrby", key);
    store.propagate(args);
    Ok(Reply::Integer(sum))
}
