//! Strings and counters (Redis 7.0 `t_string.c`).

use super::{SYNTAX, count, digits, number};
use crate::servers::redis::resp::Reply;
use crate::servers::redis::store::Store;

/// How the time of an expiry is given.
#[derive(Clone, Copy)]
struct Unit {
    seconds: bool,
    absolute: bool,
}

const EX: Unit = Unit { seconds: true, absolute: false };
const PX: Unit = Unit { seconds: false, absolute: false };
const EXAT: Unit = Unit { seconds: true, absolute: true };
const PXAT: Unit = Unit { seconds: false, absolute: true };

/// The options of SET.
#[derive(Default)]
struct Options<'a> {
    if_absent: bool,
    if_present: bool,
    get: bool,
    keep_ttl: bool,
    expiry: Option<(Unit, &'a [u8])>,
}

impl<'a> Options<'a> {
    fn parse(args: &[&'a [u8]]) -> Result<Options<'a>, Reply> {
        let mut options = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let is = |word: &[u8]| arg.eq_ignore_ascii_case(word);
            let unit = match () {
                () if is(b"NX") && !options.if_present => {
                    options.if_absent = true;
                    continue;
                }
                () if is(b"XX") && !options.if_absent => {
                    options.if_present = true;
                    continue;
                }
                () if is(b"GET") => {
                    options.get = true;
                    continue;
                }
                () if is(b"KEEPTTL") && options.expiry.is_none() => {
                    options.keep_ttl = true;
                    continue;
                }
                () if is(b"EX") => EX,
                () if is(b"PX") => PX,
                () if is(b"EXAT") => EXAT,
                () if is(b"PXAT") => PXAT,
                () => return Err(SYNTAX),
            };
            let time = args.next().filter(|_| options.expiry.is_none() && !options.keep_ttl);
            options.expiry = Some((unit, time.ok_or(SYNTAX)?));
        }
        Ok(options)
    }
}

/// The instant in milliseconds that an expiry names.
fn instant(store: &Store, unit: Unit, time: &[u8], command: &str) -> Result<i64, Reply> {
    let invalid = || Reply::Error(format!("ERR invalid expire time in '{command}' command").into());
    let time = number(time)?;
    if time <= 0 {
        return Err(invalid());
    }
    let span = if unit.seconds { time.checked_mul(1000).ok_or_else(invalid)? } else { time };
    let base = if unit.absolute { 0 } else { store.now_ms() };
    span.checked_add(base).ok_or_else(invalid)
}

pub(super) fn set(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (key, value) = (args[1], args[2]);
    let options = Options::parse(&args[3..])?;
    let expires = match options.expiry {
        Some((unit, time)) => Some(instant(store, unit, time, "set")?),
        None => None,
    };
    let before =
        if options.get { Some(store.string(key)?.cloned().map_or(Reply::Nil, Reply::Bulk)) } else { None };
    let present = store.get(key).is_some();
    if (options.if_absent && present) || (options.if_present && !present) {
        return Ok(before.unwrap_or(Reply::Nil));
    }
    let kept = if options.keep_ttl { store.get(key).and_then(|entry| entry.expires) } else { None };
    put(store, key, value, expires.or(kept), options.if_absent);
    Ok(before.unwrap_or(Reply::OK))
}

/// Sets a string and says so in a form that does not depend on the clock, nor on what was there before.
fn put(store: &mut Store, key: &[u8], value: &[u8], expires: Option<i64>, if_absent: bool) {
    store.set(key, value.to_vec(), expires, if_absent || expires.is_some());
    match expires {
        Some(when) => store.propagate(&[b"SET", key, value, b"PXAT", &digits(when)]),
        None if if_absent => store.propagate(&[b"SET", key, value, b"NX"]),
        None => store.propagate(&[b"SET", key, value]),
    }
}

pub(super) fn setnx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if store.get(args[1]).is_some() {
        return Ok(Reply::Integer(0));
    }
    put(store, args[1], args[2], None, true);
    Ok(Reply::Integer(1))
}

pub(super) fn setex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let when = instant(store, EX, args[2], "setex")?;
    store.get(args[1]);
    put(store, args[1], args[3], Some(when), false);
    Ok(Reply::OK)
}

pub(super) fn psetex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let when = instant(store, PX, args[2], "psetex")?;
    store.get(args[1]);
    put(store, args[1], args[3], Some(when), false);
    Ok(Reply::OK)
}

pub(super) fn get(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(store.string(args[1])?.cloned().map_or(Reply::Nil, Reply::Bulk))
}

pub(super) fn getdel(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(value) = store.string(args[1])?.cloned() else { return Ok(Reply::Nil) };
    store.remove(args[1]);
    store.propagate(&[b"DEL", args[1]]);
    Ok(Reply::Bulk(value))
}

pub(super) fn strlen(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.string(args[1])?.map_or(0, Vec::len)))
}

pub(super) fn incr(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args[1], 1)
}

pub(super) fn decr(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args[1], -1)
}

pub(super) fn incrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args[1], number(args[2])?)
}

pub(super) fn decrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let by = number(args[2])?.checked_neg().ok_or(Reply::error("ERR decrement would overflow"))?;
    add(store, args[1], by)
}

fn add(store: &mut Store, key: &[u8], by: i64) -> Result<Reply, Reply> {
    let value = match store.string(key)? {
        Some(text) => number(text)?,
        None => 0,
    };
    let sum = value.checked_add(by).ok_or(Reply::error("ERR increment or decrement would overflow"))?;
    let mut counter = store.make::<Vec<u8>>(key)?;
    *counter.value = digits(sum);
    counter.replaced();
    store.changed(b'$', "incrby", key);
    store.propagate(&[b"INCRBY", key, &digits(by)]);
    Ok(Reply::Integer(sum))
}
