//! Single values as payloads: DUMP and RESTORE (Redis 7.0 `cluster.c`).

use super::{SYNTAX, digits, number};
use crate::protocol::resp::Reply;
use crate::server::rdb;
use crate::server::store::{Access, Store, Value};

pub(crate) fn dump(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(store.get(args[1]).map_or(Reply::Nil, |entry| Reply::Bulk(rdb::dump(&entry.value))))
}

pub(crate) fn restore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (key, payload) = (args[1], args[3]);
    let options = Options::parse(&args[4..])?;
    if !options.replace && store.find(key).is_some() {
        return Err(Reply::error("BUSYKEY Target key name already exists."));
    }
    let ttl = number(args[2])?;
    if ttl < 0 {
        return Err(Reply::error("ERR Invalid TTL value, must be >= 0"));
    }
    let value = rdb::restore(payload).map_err(Reply::error)?;
    let replaced = options.replace && store.remove(key);
    let when = if options.absolute { ttl } else { ttl.saturating_add(store.clock_ms()) };
    let expires = (ttl > 0).then_some(when);
    if store.access != Access::Stream && expires.is_some_and(|when| when <= store.clock_ms()) {
        if replaced {
            store.propagate(&[b"DEL", key]);
            store.changed(b'g', "del", key);
        }
        return Ok(Reply::OK);
    }
    let record = matches!((&value, expires), (Value::Hash(_), _) | (Value::String(_), Some(_)));
    store.create(key, value, expires, record);
    store.set_use(key, options.idle_s, options.frequency);
    if expires.is_some() && !options.absolute {
        let when = digits(when);
        let mut effect: Vec<&[u8]> = args.to_vec();
        effect[2] = &when;
        effect.push(b"ABSTTL");
        store.propagate(&effect);
    } else {
        store.propagate(args);
    }
    store.changed(b'g', "restore", key);
    Ok(Reply::OK)
}

/// The options of RESTORE.
#[derive(Default)]
struct Options {
    replace: bool,
    absolute: bool,
    /// How long it was not used, in seconds.
    idle_s: Option<i64>,
    /// How often it was used, as a counter.
    frequency: Option<i64>,
}

impl Options {
    fn parse(mut args: &[&[u8]]) -> Result<Options, Reply> {
        let mut options = Options::default();
        while let Some((option, rest)) = args.split_first() {
            let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
            args = match rest {
                _ if is(b"REPLACE") => {
                    options.replace = true;
                    rest
                }
                _ if is(b"ABSTTL") => {
                    options.absolute = true;
                    rest
                }
                [value, rest @ ..] if is(b"IDLETIME") && options.frequency.is_none() => {
                    if number(value)? < 0 {
                        return Err(Reply::error("ERR Invalid IDLETIME value, must be >= 0"));
                    }
                    options.idle_s = Some(number(value)?);
                    rest
                }
                [value, rest @ ..] if is(b"FREQ") && options.idle_s.is_none() => {
                    if !(0..=255).contains(&number(value)?) {
                        return Err(Reply::error("ERR Invalid FREQ value, must be >= 0 and <= 255"));
                    }
                    options.frequency = Some(number(value)?);
                    rest
                }
                _ => return Err(SYNTAX),
            };
        }
        Ok(options)
    }
}
