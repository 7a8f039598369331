//! Commands about the end of keys (Redis 7.0 `expire.c`).

use super::{digits, number};
use crate::protocol::resp::Reply;
use crate::server::store::{Access, Store};

pub(crate) fn pttl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(left(store, args[1]).unwrap_or_else(|missing| missing)))
}

/// Rounded to the nearest second, not down.
pub(crate) fn ttl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(left(store, args[1]).map_or_else(|missing| missing, |ms| (ms + 500) / 1000)))
}

pub(crate) fn pexpiretime(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(end(store, args[1]).unwrap_or_else(|missing| missing)))
}

/// When a key ends, or what to answer if it does not.
fn end(store: &mut Store, key: &[u8]) -> Result<i64, i64> {
    store.peek(key).ok_or(-2)?.expires.ok_or(-1)
}

fn left(store: &mut Store, key: &[u8]) -> Result<i64, i64> {
    let when = end(store, key)?;
    let now_ms = i64::try_from(store.ask_clock().as_millis()).unwrap_or(i64::MAX);
    Ok(when.saturating_sub(now_ms).max(0))
}

pub(crate) fn persist(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(i64::from(persist_key(store, args[1]))))
}

/// Makes a key last. False if it did anyway, or is not there.
pub(crate) fn persist_key(store: &mut Store, key: &[u8]) -> bool {
    if store.find(key).is_none_or(|entry| entry.expires.is_none()) {
        return false;
    }
    store.expire_at(key, None);
    store.changed(b'g', "persist", key);
    store.propagate(&[b"PERSIST", key]);
    true
}

/// Sets when a live key ends. A primary deletes it at once if that time has passed; a replica sets even then: deleting
/// is its primary's business. The options are part of the effect.
pub(crate) fn expire_key(store: &mut Store, key: &[u8], when: i64, options: &[&[u8]]) {
    if when <= store.clock_ms() && store.access != Access::Stream {
        super::keys::delete(store, key);
        store.propagate(&[b"DEL", key]);
    } else {
        store.expire_at(key, Some(when));
        store.changed(b'g', "expire", key);
        let when = digits(when);
        if options.is_empty() {
            store.propagate(&[b"PEXPIREAT", key, &when]);
        } else {
            store.propagate(&[&[b"PEXPIREAT", key, &when], options].concat());
        }
    }
}

pub(crate) fn expire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.clock_ms();
    expire_generic(store, args, "expire", 1000, base)
}

pub(crate) fn pexpire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.clock_ms();
    expire_generic(store, args, "pexpire", 1, base)
}

pub(crate) fn expireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    expire_generic(store, args, "expireat", 1000, 0)
}

pub(crate) fn pexpireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    expire_generic(store, args, "pexpireat", 1, 0)
}

fn expire_generic(
    store: &mut Store,
    args: &[&[u8]],
    name: &str,
    unit_ms: i64,
    base_ms: i64,
) -> Result<Reply, Reply> {
    let condition = Condition::parse(&args[3..])?;
    let invalid = || Reply::Error(format!("ERR invalid expire time in '{name}' command").into());
    let when = number(args[2])?.checked_mul(unit_ms).and_then(|span| span.checked_add(base_ms));
    let when = when.ok_or_else(invalid)?;
    let key = args[1];
    let Some(entry) = store.find(key) else { return Ok(Reply::Integer(0)) };
    if !condition.admits(entry.expires, when) {
        return Ok(Reply::Integer(0));
    }
    expire_key(store, key, when, &args[3..]);
    Ok(Reply::Integer(1))
}

/// When EXPIRE and its kin apply.
#[derive(Default)]
struct Condition {
    without_expiry: bool,
    with_expiry: bool,
    later: bool,
    earlier: bool,
}

impl Condition {
    fn parse(options: &[&[u8]]) -> Result<Condition, Reply> {
        let mut condition = Condition::default();
        for option in options {
            let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
            match () {
                () if is(b"NX") => condition.without_expiry = true,
                () if is(b"XX") => condition.with_expiry = true,
                () if is(b"GT") => condition.later = true,
                () if is(b"LT") => condition.earlier = true,
                () => {
                    let option = String::from_utf8_lossy(option);
                    return Err(Reply::Error(format!("ERR Unsupported option {option}").into()));
                }
            }
        }
        let Condition { without_expiry, with_expiry, later, earlier } = condition;
        if without_expiry && (with_expiry || later || earlier) {
            return Err(Reply::error("ERR NX and XX, GT or LT options at the same time are not compatible"));
        }
        if later && earlier {
            return Err(Reply::error("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(condition)
    }

    /// A key without expiry counts as one that never ends.
    fn admits(&self, expires: Option<i64>, when: i64) -> bool {
        !(self.without_expiry && expires.is_some()
            || self.with_expiry && expires.is_none()
            || self.later && expires.is_none_or(|expires| when <= expires)
            || self.earlier && expires.is_some_and(|expires| when >= expires))
    }
}
