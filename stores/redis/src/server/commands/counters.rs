//! Strings as counters (Redis 7.0 `t_string.c`).

use super::extended::Extended;
use super::numbers::is_infinity;
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
    store.make::<Vec<u8>>(key)?.replace(digits(sum), true);
    store.changed(b'$', "incrby", key);
    store.propagate(args);
    Ok(Reply::Integer(sum))
}

const NOT_FINITE: Reply = Reply::error("ERR increment would produce NaN or Infinity");
const NOT_A_FLOAT: Reply = Reply::error("ERR value is not a valid float");

pub(crate) fn incrbyfloat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let value = match store.found::<Vec<u8>>(key)? {
        Some(text) => Extended::parse(text).ok_or(NOT_A_FLOAT)?,
        None => Extended::ZERO,
    };
    if is_infinity(args[2]) {
        return Err(NOT_FINITE);
    }
    let by = Extended::parse(args[2]).ok_or(NOT_A_FLOAT)?;
    let sum = value.plus(by).ok_or(NOT_FINITE)?;
    let text = sum.text().into_bytes();
    store.make::<Vec<u8>>(key)?.replace(text.clone(), false);
    store.changed(b'$', "incrbyfloat", key);
    store.propagate(&[b"SET", key, &text, b"KEEPTTL"]);
    Ok(Reply::Bulk(text))
}
