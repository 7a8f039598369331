//! Hashes, as reentrant locks use them (Redis 7.0 `t_hash.c`).

use super::{count, digits, number, wrong_arity};
use crate::servers::redis::resp::{self, Reply};
use crate::servers::redis::store::{Fields, Store};

pub(super) fn hset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if args.len() % 2 == 1 {
        return Err(wrong_arity("hset"));
    }
    let mut hash = store.make::<Fields>(args[1])?;
    let new = args[2..].chunks_exact(2).filter(|pair| hash.set(pair[0], pair[1])).count();
    store.changed(b'h', "hset", args[1]);
    store.propagate(args);
    Ok(count(new))
}

pub(super) fn hsetnx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let mut hash = store.make::<Fields>(args[1])?;
    if hash.value.contains_key(args[2]) {
        return Ok(Reply::Integer(0));
    }
    hash.set(args[2], args[3]);
    store.changed(b'h', "hset", args[1]);
    store.propagate(args);
    Ok(Reply::Integer(1))
}

pub(super) fn hget(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let value = store.hash(args[1])?.and_then(|fields| fields.get(args[2]));
    Ok(value.cloned().map_or(Reply::Nil, Reply::Bulk))
}

pub(super) fn hexists(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let exists = store.hash(args[1])?.is_some_and(|fields| fields.contains_key(args[2]));
    Ok(Reply::Integer(i64::from(exists)))
}

pub(super) fn hlen(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.hash(args[1])?.map_or(0, |fields| fields.len())))
}

/// The fields come in their own order here, in Redis in no order that can be relied on.
pub(super) fn hkeys(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let fields = store.hash(args[1])?.into_iter().flatten();
    Ok(Reply::Array(fields.map(|(field, _)| Reply::Bulk(field.clone())).collect()))
}

pub(super) fn hgetall(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let fields = store.hash(args[1])?.into_iter().flatten();
    let pair =
        |(field, value): (&Vec<u8>, &Vec<u8>)| (Reply::Bulk(field.clone()), Reply::Bulk(value.clone()));
    Ok(Reply::Map(fields.map(pair).collect()))
}

pub(super) fn hdel(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(hash) = store.edit::<Fields>(args[1])? else { return Ok(Reply::Integer(0)) };
    let removed = args[2..].iter().filter(|field| hash.value.remove(**field).is_some()).count();
    if removed > 0 {
        store.changed(b'h', "hdel", args[1]);
        store.tidy::<Fields>(args[1]);
        store.propagate(args);
    }
    Ok(count(removed))
}

pub(super) fn hincrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let by = number(args[3])?;
    let value = match store.hash(args[1])?.and_then(|fields| fields.get(args[2])) {
        Some(text) => resp::integer(text).ok_or(Reply::error("ERR hash value is not an integer"))?,
        None => 0,
    };
    let sum = value.checked_add(by).ok_or(Reply::error("ERR increment or decrement would overflow"))?;
    store.make::<Fields>(args[1])?.set(args[2], &digits(sum));
    store.changed(b'h', "hincrby", args[1]);
    store.propagate(args);
    Ok(Reply::Integer(sum))
}
