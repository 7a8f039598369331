//! Strings: SET and GET in all their forms (Redis 7.0 and 8.4 `t_string.c`).

use super::conditions::{self, Condition};
use super::numbers::span;
use super::{SYNTAX, digits, number, wrong_arity};
use crate::protocol::resp::Reply;
use crate::server::store::Store;
use crate::server::version::Version;

/// How the time of an expiry is given.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    condition: Option<Condition<'a>>,
}

impl<'a> Options<'a> {
    /// Reads the options of SET of a version. The same unit may come twice, the last time counts.
    fn parse(args: &[&'a [u8]], version: Version) -> Result<Options<'a>, Reply> {
        let mut options = Options::default();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let next = args.peek().copied().copied().unwrap_or_default();
            let condition = Condition::named(arg, next);
            if let Some(condition) = condition.filter(|_| args.peek().is_some())
                && condition.is_in(version)
                && !options.is_conditional()
            {
                options.condition = Some(condition);
                args.next();
                continue;
            }
            let is = |word: &[u8]| arg.eq_ignore_ascii_case(word);
            let unit = match () {
                () if is(b"NX") && !options.if_present && options.condition.is_none() => {
                    options.if_absent = true;
                    continue;
                }
                () if is(b"XX") && !options.if_absent && options.condition.is_none() => {
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
            let free = options.expiry.is_none_or(|(other, _)| other == unit);
            let time = args.next().filter(|_| free && !options.keep_ttl);
            options.expiry = Some((unit, time.ok_or(SYNTAX)?));
        }
        Ok(options)
    }

    /// True if it is set on some condition.
    fn is_conditional(&self) -> bool {
        self.if_absent || self.if_present || self.condition.is_some()
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
    let base = if unit.absolute { 0 } else { store.clock_ms() };
    span.checked_add(base).ok_or_else(invalid)
}

pub(crate) fn set(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (key, value) = (args[1], args[2]);
    if let Some(name) = store.version.compares_digests().then(|| conditions::lacking(&args[3..])).flatten() {
        return Err(store.not_modelled(&format!("SET with {name}")));
    }
    let options = Options::parse(&args[3..], store.version)?;
    let expires = match options.expiry {
        Some((unit, time)) => Some(instant(store, unit, time, "set")?),
        None => None,
    };
    let before =
        if options.get { Some(store.string(key)?.cloned().map_or(Reply::Nil, Reply::Bulk)) } else { None };
    if let Some(condition) = options.condition {
        return set_on(store, args, condition, expires, options.keep_ttl).map(|is_set| match before {
            Some(before) => before,
            None if is_set => Reply::OK,
            None => Reply::Nil,
        });
    }
    let old = store.find(key).map(|entry| entry.expires);
    if (options.if_absent && old.is_some()) || (options.if_present && old.is_none()) {
        return Ok(before.unwrap_or(Reply::Nil));
    }
    let kept = if options.keep_ttl { old.flatten() } else { None };
    put(store, key, value, expires.or(kept), options.if_absent || expires.or(kept).is_some());
    match expires {
        Some(when) => expire_effect(store, key, value, when),
        None if options.get => {
            let effect: Vec<&[u8]> = args[..3]
                .iter()
                .chain(args[3..].iter().filter(|arg| !arg.eq_ignore_ascii_case(b"GET")))
                .copied()
                .collect();
            store.propagate(&effect);
        }
        None => store.propagate(args),
    }
    Ok(before.unwrap_or(Reply::OK))
}

/// Sets a string if its value meets a condition; false if it does not. What is set to the value that it has is the record that it was.
fn set_on(
    store: &mut Store,
    args: &[&[u8]],
    condition: Condition<'_>,
    expires: Option<i64>,
    keeps_ttl: bool,
) -> Result<bool, Reply> {
    let (key, value) = (args[1], args[2]);
    let present = store.string(key)?.cloned();
    if !condition.is_met_by(present.as_ref()) {
        return Ok(false);
    }
    match expires {
        Some(when) if present.is_some_and(|present| present == value) => {
            store.expire_at(key, Some(when));
            store.changed(b'$', "set", key);
        }
        _ => {
            let old = store.find(key).and_then(|entry| entry.expires);
            let expires = expires.or(old.filter(|_| keeps_ttl));
            put(store, key, value, expires, expires.is_some());
        }
    }
    match expires {
        Some(when) => expire_effect(store, key, value, when),
        None if keeps_ttl => store.propagate(&[b"SET", key, value, b"KEEPTTL"]),
        None => store.propagate(&[b"SET", key, value]),
    }
    Ok(true)
}

/// Sets a string.
fn put(store: &mut Store, key: &[u8], value: &[u8], expires: Option<i64>, record: bool) {
    store.set(key, value.to_vec(), expires, record);
    store.changed(b'$', "set", key);
}

/// Says that a string was set with an expiry, in a form that does not depend on the clock.
fn expire_effect(store: &mut Store, key: &[u8], value: &[u8], when: i64) {
    store.propagate(&[b"SET", key, value, b"PXAT", &digits(when)]);
    store.noticed(b'g', "expire", key);
}

pub(crate) fn setnx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if store.find(args[1]).is_some() {
        return Ok(Reply::Integer(0));
    }
    put(store, args[1], args[2], None, true);
    store.propagate(args);
    Ok(Reply::Integer(1))
}

pub(crate) fn setex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let when = instant(store, EX, args[2], "setex")?;
    set_until(store, args[1], args[3], when)
}

pub(crate) fn psetex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let when = instant(store, PX, args[2], "psetex")?;
    set_until(store, args[1], args[3], when)
}

fn set_until(store: &mut Store, key: &[u8], value: &[u8], when: i64) -> Result<Reply, Reply> {
    store.find(key);
    put(store, key, value, Some(when), true);
    expire_effect(store, key, value, when);
    Ok(Reply::OK)
}

pub(crate) fn getset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let before = store.string(args[1])?.cloned().map_or(Reply::Nil, Reply::Bulk);
    put(store, args[1], args[2], None, false);
    store.propagate(&[b"SET", args[1], args[2]]);
    Ok(before)
}

pub(crate) fn mset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if args.len().is_multiple_of(2) {
        return Err(wrong_arity("mset"));
    }
    set_all(store, args);
    Ok(Reply::OK)
}

fn set_all(store: &mut Store, args: &[&[u8]]) {
    for pair in args[1..].chunks_exact(2) {
        store.find(pair[0]);
        put(store, pair[0], pair[1], None, false);
    }
    store.propagate(args);
}

pub(crate) fn get(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(store.string(args[1])?.cloned().map_or(Reply::Nil, Reply::Bulk))
}

/// A value that is no string counts as missing.
pub(crate) fn mget(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let value = |key: &&[u8]| store.string(key).ok().flatten().cloned().map_or(Reply::Nil, Reply::Bulk);
    Ok(Reply::Array(args[1..].iter().map(value).collect()))
}

pub(crate) fn getrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (start, end) = (number(args[2])?, number(args[3])?);
    let Some(string) = store.string(args[1])? else { return Ok(Reply::Bulk(Vec::new())) };
    // An end before the first byte means the first byte, unless both ends are given from behind and crossed.
    let len = i64::try_from(string.len()).unwrap_or(i64::MAX);
    let end = if end < 0 && !(start < 0 && start > end) { end.saturating_add(len).max(0) } else { end };
    let part = if start < 0 && end < 0 && start > end { 0..0 } else { span(string.len(), start, end) };
    Ok(Reply::Bulk(string[part].to_vec()))
}
