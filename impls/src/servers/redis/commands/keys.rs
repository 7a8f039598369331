//! Keys of any type and their expiry (Redis 7.0 `db.c`, `expire.c`).

use super::{SYNTAX, count, digits, number};
use crate::servers::redis::resp::Reply;
use crate::servers::redis::store::{Access, Store, Value};

pub(super) fn del(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let removed = args[1..].iter().filter(|key| store.remove(key)).count();
    if removed > 0 {
        let mut effect = vec![b"DEL".as_slice()];
        effect.extend(&args[1..]);
        store.propagate(&effect);
    }
    Ok(count(removed))
}

pub(super) fn exists(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(args[1..].iter().filter(|key| store.get(key).is_some()).count()))
}

pub(super) fn type_of(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Status(
        match store.get(args[1]).map(|entry| &entry.value) {
            None => "none",
            Some(Value::String(_)) => "string",
            Some(Value::List(_)) => "list",
            Some(Value::Set(_)) => "set",
            Some(Value::SortedSet(_)) => "zset",
            Some(Value::Hash(_)) => "hash",
        }
        .into(),
    ))
}

pub(super) fn dbsize(store: &mut Store, _: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.len()))
}

pub(super) fn flushall(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let word = |arg: &[u8]| arg.eq_ignore_ascii_case(b"ASYNC") || arg.eq_ignore_ascii_case(b"SYNC");
    match args {
        [_] => {}
        [_, arg] if word(arg) => {}
        _ => return Err(SYNTAX),
    }
    store.clear();
    store.propagate(&[b"FLUSHALL"]);
    Ok(Reply::OK)
}

pub(super) fn pttl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(left(store, args[1]).unwrap_or_else(|missing| missing)))
}

/// Rounded to the nearest second, not down.
pub(super) fn ttl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(left(store, args[1]).map_or_else(|missing| missing, |ms| (ms + 500) / 1000)))
}

pub(super) fn pexpiretime(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(end(store, args[1]).unwrap_or_else(|missing| missing)))
}

pub(super) fn expiretime(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Integer(
        end(store, args[1]).map_or_else(|missing| missing, |ms| (ms.saturating_add(500)) / 1000),
    ))
}

/// When a key ends, or what to answer if it does not.
fn end(store: &mut Store, key: &[u8]) -> Result<i64, i64> {
    store.get(key).ok_or(-2)?.expires.ok_or(-1)
}

fn left(store: &mut Store, key: &[u8]) -> Result<i64, i64> {
    end(store, key).map(|when| when.saturating_sub(store.now_ms()).max(0))
}

pub(super) fn persist(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if store.get(args[1]).is_none_or(|entry| entry.expires.is_none()) {
        return Ok(Reply::Integer(0));
    }
    store.expire_at(args[1], None);
    store.propagate(&[b"PERSIST", args[1]]);
    Ok(Reply::Integer(1))
}

pub(super) fn expire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.now_ms();
    expire_generic(store, args, "expire", 1000, base)
}

pub(super) fn pexpire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.now_ms();
    expire_generic(store, args, "pexpire", 1, base)
}

pub(super) fn expireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    expire_generic(store, args, "expireat", 1000, 0)
}

pub(super) fn pexpireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
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
    let Some(entry) = store.get(key) else { return Ok(Reply::Integer(0)) };
    if !condition.admits(entry.expires, when) {
        return Ok(Reply::Integer(0));
    }
    // A replica sets even a time that has passed: deleting is its primary's business.
    if when <= store.now_ms() && store.access != Access::Stream {
        store.remove(key);
        store.propagate(&[b"DEL", key]);
    } else {
        store.expire_at(key, Some(when));
        store.propagate(&[b"PEXPIREAT", key, &digits(when)]);
    }
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
