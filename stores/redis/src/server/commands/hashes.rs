//! Hashes (Redis 7.0 `t_hash.c`).

use super::{count, digits, number, wrong_arity};
use crate::protocol::resp::{self, Reply};
use crate::server::store::{Fields, Store};

pub(crate) fn hset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if !args.len().is_multiple_of(2) {
        return Err(wrong_arity("hset"));
    }
    set_all(store, args).map(count)
}

pub(crate) fn hmset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if !args.len().is_multiple_of(2) {
        return Err(wrong_arity("hmset"));
    }
    set_all(store, args).map(|_| Reply::OK)
}

fn set_all(store: &mut Store, args: &[&[u8]]) -> Result<usize, Reply> {
    let hash = store.make::<Fields>(args[1])?;
    let new = args[2..]
        .chunks_exact(2)
        .filter(|pair| hash.insert(pair[0].to_vec(), pair[1].to_vec()).is_none())
        .count();
    store.changed(b'h', "hset", args[1]);
    store.propagate(args);
    Ok(new)
}

pub(crate) fn hsetnx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let hash = store.make::<Fields>(args[1])?;
    if hash.contains_key(args[2]) {
        return Ok(Reply::Integer(0));
    }
    hash.insert(args[2].to_vec(), args[3].to_vec());
    store.changed(b'h', "hset", args[1]);
    store.propagate(args);
    Ok(Reply::Integer(1))
}

fn value(hash: Option<&Fields>, field: &[u8]) -> Reply {
    hash.and_then(|fields| fields.get(field)).cloned().map_or(Reply::Nil, Reply::Bulk)
}

pub(crate) fn hget(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(value(store.hash(args[1])?, args[2]))
}

pub(crate) fn hexists(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let exists = store.hash(args[1])?.is_some_and(|fields| fields.contains_key(args[2]));
    Ok(Reply::Integer(i64::from(exists)))
}

pub(crate) fn hlen(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.hash(args[1])?.map_or(0, |fields| fields.len())))
}

pub(crate) fn hkeys(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let fields = store.hash(args[1])?.into_iter().flat_map(Fields::iter);
    Ok(Reply::Array(fields.map(|(field, _)| Reply::Bulk(field.clone())).collect()))
}

fn pair((field, value): (&Vec<u8>, &Vec<u8>)) -> (Reply, Reply) {
    (Reply::Bulk(field.clone()), Reply::Bulk(value.clone()))
}

pub(crate) fn hgetall(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Map(store.hash(args[1])?.into_iter().flat_map(Fields::iter).map(pair).collect()))
}

pub(crate) fn hdel(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(hash) = store.edit::<Fields>(args[1])? else { return Ok(Reply::Integer(0)) };
    let removed = args[2..].iter().filter(|field| hash.remove(field).is_some()).count();
    if removed > 0 {
        store.changed(b'h', "hdel", args[1]);
        store.tidy::<Fields>(args[1]);
        store.propagate(args);
    }
    Ok(count(removed))
}

pub(crate) fn hincrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let by = number(args[3])?;
    let hash = store.make::<Fields>(args[1])?;
    let sum = match hash.get(args[2]) {
        Some(text) => {
            let value = resp::integer(text).ok_or(Reply::error("ERR hash value is not an integer"))?;
            value.checked_add(by).ok_or(Reply::error("ERR increment or decrement would overflow"))?
        }
        None => by,
    };
    hash.insert(args[2].to_vec(), digits(sum));
    store.changed(b'h', "hincrby", args[1]);
    store.propagate(args);
    Ok(Reply::Integer(sum))
}
