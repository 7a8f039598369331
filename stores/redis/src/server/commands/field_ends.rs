//! Fields of hashes that end (Redis 7.4 `t_hash.c`: HEXPIRE and its kin; Redis 8.0: HGETEX, HSETEX, HGETDEL).
//!
//! Modelled from the sources: no server of these versions was asked. Valkey 9.0 has commands of the same names, whose replies differ in
//! details, and which are left out.

use super::{digits, number, wrong_arity};
use crate::protocol::resp::{self, Reply};
use crate::server::store::{Access, Fields, Store};

/// The latest end that a field may have, in milliseconds: Redis keeps 48 bits of them, and takes two fewer.
const LATEST_MS: i64 = 0x0000_ffff_ffff_ffff >> 2;

/// What becomes of a field whose end is set, as the number that is replied.
const NO_FIELD: i64 = -2;
const NO_END: i64 = -1;
const NOT_MET: i64 = 0;
const SET: i64 = 1;
const DELETED: i64 = 2;

const MISPLACED: Reply =
    Reply::error("ERR Mandatory argument FIELDS is missing or not at the right position");
const MISCOUNTED: Reply = Reply::error("ERR The `numfields` parameter must match the number of arguments");
const NOT_POSITIVE: Reply = Reply::error("ERR Number of fields must be a positive integer");

/// The fields behind `FIELDS count`, which stand at this place.
fn fields<'a>(args: &'a [&'a [u8]], at: usize, not_positive: Reply) -> Result<&'a [&'a [u8]], Reply> {
    if !args.get(at).is_some_and(|word| word.eq_ignore_ascii_case(b"FIELDS")) {
        return Err(MISPLACED);
    }
    let count = args.get(at + 1).and_then(|count| resp::integer(count)).filter(|count| *count > 0);
    let count = count.ok_or(not_positive)?;
    let fields = args.get(at + 2..).unwrap_or_default();
    if usize::try_from(count).ok() != Some(fields.len()) {
        return Err(MISCOUNTED);
    }
    Ok(fields)
}

/// An end, given in units of so many milliseconds after a moment.
fn end(text: &[u8], unit_ms: i64, base_ms: i64, name: &str) -> Result<i64, Reply> {
    let span = number(text)?;
    if span < 0 {
        return Err(Reply::error("ERR invalid expire time, must be >= 0"));
    }
    let when = span.checked_mul(unit_ms).filter(|span| *span <= LATEST_MS - base_ms);
    when.map(|span| span + base_ms)
        .ok_or_else(|| Reply::Error(format!("ERR invalid expire time in '{name}' command").into()))
}

/// When the end of a field is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    WithoutEnd,
    WithEnd,
    Later,
    Earlier,
}

impl Condition {
    fn parse(word: &[u8]) -> Option<Condition> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        Some(match () {
            () if is(b"NX") => Condition::WithoutEnd,
            () if is(b"XX") => Condition::WithEnd,
            () if is(b"GT") => Condition::Later,
            () if is(b"LT") => Condition::Earlier,
            () => return None,
        })
    }

    /// A field without an end counts as one that lasts for ever.
    fn admits(self, before: Option<i64>, when: i64) -> bool {
        match self {
            Condition::Always => true,
            Condition::WithoutEnd => before.is_none(),
            Condition::WithEnd => before.is_some(),
            Condition::Later => before.is_some_and(|before| when > before),
            Condition::Earlier => before.is_none_or(|before| when < before),
        }
    }
}

/// Sets when a field of a hash ends: what is replied about it. On a primary it is deleted if that time has passed.
fn set_end(
    store: &mut Store,
    (key, field): (&[u8], &[u8]),
    when: Option<i64>,
    condition: Condition,
) -> Result<i64, Reply> {
    let now = store.clock_ms();
    let Some(hash) = store.found::<Fields>(key)?.filter(|hash| hash.contains_key(field)) else {
        return Ok(NO_FIELD);
    };
    let before = hash.end(field);
    if when.is_some_and(|when| !condition.admits(before, when)) {
        return Ok(NOT_MET);
    }
    if when.is_some_and(|when| when <= now) && store.access != Access::Stream {
        if let Some(hash) = store.edit::<Fields>(key)? {
            hash.value.remove(field);
        }
        store.propagate(&[b"HDEL", key, field]);
        return Ok(DELETED);
    }
    store.end_field(key, field, when);
    Ok(SET)
}

/// Says of a hash that ends of fields were set, and deletes it if that has emptied it.
fn end_was_set(store: &mut Store, key: &[u8], results: &[i64]) {
    let deleted = results.contains(&DELETED);
    if deleted || results.contains(&SET) {
        store.changed(b'h', if deleted { "hdel" } else { "hexpire" }, key);
        store.tidy::<Fields>(key);
    }
}

/// The fields whose end was set.
fn updated<'a>(fields: &[&'a [u8]], results: &[i64]) -> Vec<&'a [u8]> {
    fields.iter().zip(results).filter(|(_, result)| **result == SET).map(|(field, _)| *field).collect()
}

fn numbers(results: impl IntoIterator<Item = i64>) -> Reply {
    Reply::Array(results.into_iter().map(Reply::Integer).collect())
}

fn expire(store: &mut Store, args: &[&[u8]], name: &str, unit_ms: i64, base_ms: i64) -> Result<Reply, Reply> {
    let key = args[1];
    let is_there = store.found::<Fields>(key)?.is_some();
    let when = end(args[2], unit_ms, base_ms, name)?;
    let condition = Condition::parse(args[3]);
    let at = if condition.is_some() { 4 } else { 3 };
    let fields = fields(args, at, Reply::error("ERR Parameter `numFields` should be greater than 0"))?;
    if !is_there {
        return Ok(numbers(fields.iter().map(|_| NO_FIELD)));
    }
    let condition = condition.unwrap_or(Condition::Always);
    let results = fields.iter().map(|field| set_end(store, (key, field), Some(when), condition));
    let results = results.collect::<Result<Vec<i64>, Reply>>()?;
    propagate_end(store, key, when, &args[3..at], &updated(fields, &results));
    end_was_set(store, key, &results);
    Ok(numbers(results))
}

/// Has replicas set an end, as the time that it is.
fn propagate_end(store: &mut Store, key: &[u8], when: i64, condition: &[&[u8]], fields: &[&[u8]]) {
    if fields.is_empty() {
        return;
    }
    let (when, count) = (digits(when), digits(i64::try_from(fields.len()).unwrap_or(i64::MAX)));
    let mut words: Vec<&[u8]> = vec![b"HPEXPIREAT", key, &when];
    words.extend(condition);
    words.extend([&b"FIELDS"[..], &count]);
    words.extend(fields);
    store.propagate(&words);
}

pub(crate) fn hexpire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.clock_ms();
    expire(store, args, "hexpire", 1000, base)
}

pub(crate) fn hpexpire(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let base = store.clock_ms();
    expire(store, args, "hpexpire", 1, base)
}

pub(crate) fn hexpireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    expire(store, args, "hexpireat", 1000, 0)
}

pub(crate) fn hpexpireat(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    expire(store, args, "hpexpireat", 1, 0)
}

/// What is asked of the end of each field.
fn ask(store: &mut Store, args: &[&[u8]], about: impl Fn(i64) -> i64) -> Result<Reply, Reply> {
    let hash = store.hash(args[1])?;
    let fields = fields(args, 2, NOT_POSITIVE)?;
    let about = |field: &&[u8]| match hash {
        Some(hash) if hash.contains_key(field) => hash.end(field).map_or(NO_END, &about),
        _ => NO_FIELD,
    };
    Ok(numbers(fields.iter().map(about)))
}

pub(crate) fn httl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let now = store.clock_ms();
    ask(store, args, |end| (end + 999 - now) / 1000)
}

pub(crate) fn hpttl(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let now = store.clock_ms();
    ask(store, args, |end| end - now)
}

pub(crate) fn hexpiretime(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    ask(store, args, |end| (end + 999) / 1000)
}

pub(crate) fn hpexpiretime(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    ask(store, args, |end| end)
}

pub(crate) fn hpersist(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    store.found::<Fields>(key)?;
    let fields = fields(args, 2, NOT_POSITIVE)?;
    let mut results = Vec::new();
    for field in fields {
        let hash = store.found::<Fields>(key)?.filter(|hash| hash.contains_key(field));
        results.push(match hash.map(|hash| hash.end(field)) {
            None => NO_FIELD,
            Some(None) => NO_END,
            Some(Some(_)) => {
                store.end_field(key, field, None);
                SET
            }
        });
    }
    if results.contains(&SET) {
        store.changed(b'h', "hpersist", key);
        store.propagate(args);
    }
    Ok(numbers(results))
}

/// The values of fields.
fn values(hash: Option<&Fields>, fields: &[&[u8]]) -> Vec<Reply> {
    let value = |field: &&[u8]| hash.and_then(|hash| hash.get(field)).cloned();
    fields.iter().map(|field| value(field).map_or(Reply::Nil, Reply::Bulk)).collect()
}

/// HGETDEL key FIELDS count field ..: the values of fields, which are deleted.
pub(crate) fn hgetdel(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    store.found::<Fields>(key)?;
    let fields = fields(args, 2, NOT_POSITIVE)?;
    let Some(hash) = store.edit::<Fields>(key)? else { return Ok(Reply::Array(values(None, fields))) };
    // One that is named twice is gone the second time.
    let replies: Vec<Reply> =
        fields.iter().map(|field| hash.value.remove(field).map_or(Reply::Nil, Reply::Bulk)).collect();
    if replies.iter().any(|reply| *reply != Reply::Nil) {
        store.changed(b'h', "hdel", key);
        store.propagate(&[&[b"HDEL", key], fields].concat());
        store.tidy::<Fields>(key);
    }
    Ok(Reply::Array(replies))
}

/// A time to live as HGETEX and HSETEX take it: a word, its unit, and whether it is counted from now on.
const TIMES: [(&[u8], i64, bool); 4] =
    [(b"EX", 1000, true), (b"PX", 1, true), (b"EXAT", 1000, false), (b"PXAT", 1, false)];

fn time(word: &[u8]) -> Option<(i64, bool)> {
    let known = TIMES.iter().find(|(name, ..)| word.eq_ignore_ascii_case(name))?;
    Some((known.1, known.2))
}

/// HGETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST] FIELDS count field ..: the values of fields, whose end is set.
pub(crate) fn hgetex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    store.found::<Fields>(key)?;
    let now = store.clock_ms();
    let persists = args[2].eq_ignore_ascii_case(b"PERSIST");
    let (when, at) = match time(args[2]) {
        Some((unit, relative)) => (Some(end(args[3], unit, if relative { now } else { 0 }, "hgetex")?), 4),
        None => (None, if persists { 3 } else { 2 }),
    };
    let fields = fields(args, at, NOT_POSITIVE)?;
    let replies = values(store.found::<Fields>(key)?, fields);
    if when.is_none() && !persists {
        return Ok(Reply::Array(replies));
    }
    let results = fields.iter().map(|field| set_end(store, (key, field), when, Condition::Always));
    let results = results.collect::<Result<Vec<i64>, Reply>>()?;
    let updated = updated(fields, &results);
    match when {
        Some(when) => {
            propagate_end(store, key, when, &[], &updated);
            end_was_set(store, key, &results);
        }
        None if !updated.is_empty() => {
            store.changed(b'h', "hpersist", key);
            store.propagate(&[&[b"HPERSIST", key], &args[at..]].concat());
        }
        None => {}
    }
    Ok(Reply::Array(replies))
}

/// HSETEX key [FNX | FXX] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL] FIELDS count field value ..: sets all fields or none.
pub(crate) fn hsetex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Setting { condition, when, keeps, pairs } = Setting::parse(store, args)?;
    let key = args[1];
    let hash = store.found::<Fields>(key)?;
    let is_there = |pair: &&[&[u8]]| hash.is_some_and(|hash| hash.contains_key(pair[0]));
    let there = pairs.chunks_exact(2).filter(is_there).count();
    let refused = match condition {
        Some(true) => there < pairs.len() / 2,
        Some(false) => there > 0,
        None => false,
    };
    if refused {
        return Ok(Reply::Integer(0));
    }
    let mut hash = store.make::<Fields>(key)?;
    for pair in pairs.chunks_exact(2) {
        hash.set(pair[0], pair[1]);
        if !keeps && when.is_none() {
            hash.value.set_end(pair[0], None);
        }
    }
    store.changed(b'h', "hset", key);
    let mut words: Vec<&[u8]> = vec![b"HSETEX", key];
    let text = when.map(digits);
    match &text {
        Some(text) => words.extend([&b"PXAT"[..], text]),
        None if keeps => words.push(b"KEEPTTL"),
        None => {}
    }
    let count = digits(i64::try_from(pairs.len() / 2).unwrap_or(i64::MAX));
    words.extend([&b"FIELDS"[..], &count]);
    words.extend(pairs);
    if when.is_none_or(|when| when > store.clock_ms() || store.access == Access::Stream) {
        store.propagate(&words);
    }
    if let Some(when) = when {
        let fields = pairs.chunks_exact(2).map(|pair| pair[0]);
        let results = fields.map(|field| set_end(store, (key, field), Some(when), Condition::Always));
        let results = results.collect::<Result<Vec<i64>, Reply>>()?;
        end_was_set(store, key, &results);
    }
    Ok(Reply::Integer(1))
}

/// The options of HSETEX.
struct Setting<'a> {
    /// True if all fields have to be there, false if none may be.
    condition: Option<bool>,
    when: Option<i64>,
    keeps: bool,
    pairs: &'a [&'a [u8]],
}

impl<'a> Setting<'a> {
    fn parse(store: &Store, args: &'a [&'a [u8]]) -> Result<Setting<'a>, Reply> {
        let mut setting = Setting { condition: None, when: None, keeps: false, pairs: &[] };
        let mut at = 2;
        while let Some(word) = args.get(at) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            match () {
                () if is(b"FIELDS") => {
                    setting.pairs = pairs(&args[at..])?;
                    return Ok(setting);
                }
                () if is(b"KEEPTTL") || time(word).is_some() => {
                    if setting.when.is_some() || setting.keeps {
                        return Err(Reply::error(
                            "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified",
                        ));
                    }
                    match time(word) {
                        None => setting.keeps = true,
                        Some((unit, relative)) => {
                            at += 1;
                            let text = args.get(at).ok_or(Reply::error("ERR missing expire time"))?;
                            let base = if relative { store.clock_ms() } else { 0 };
                            setting.when = Some(end(text, unit, base, "hsetex")?);
                        }
                    }
                }
                () if is(b"FNX") || is(b"FXX") => {
                    if setting.condition.is_some() {
                        return Err(Reply::error("ERR Only one of FXX or FNX arguments can be specified"));
                    }
                    setting.condition = Some(is(b"FXX"));
                }
                () => {
                    let word = String::from_utf8_lossy(word);
                    return Err(Reply::Error(format!("ERR unknown argument: {word}").into()));
                }
            }
            at += 1;
        }
        Err(wrong_arity("hsetex"))
    }
}

/// The fields and values behind `FIELDS count`.
fn pairs<'a>(args: &'a [&'a [u8]]) -> Result<&'a [&'a [u8]], Reply> {
    let pairs = args.get(2..).filter(|pairs| pairs.len() >= 2).ok_or_else(|| wrong_arity("hsetex"))?;
    let count = resp::integer(args[1]).and_then(|count| i32::try_from(count).ok()).filter(|count| *count > 0);
    let count = count.ok_or(Reply::error("ERR invalid number of fields"))?;
    let fits = pairs.len().is_multiple_of(2) && usize::try_from(count).ok() == Some(pairs.len() / 2);
    if fits { Ok(pairs) } else { Err(wrong_arity("hsetex")) }
}
