//! Sorted sets: members and their scores (Redis 7.0 `t_zset.c`).

use super::numbers::float;
use super::{SYNTAX, count};
use crate::protocol::resp::Reply;
use crate::server::store::{SortedSet, Store};

/// The options of ZADD.
#[derive(Clone, Copy, Default)]
struct Options {
    only_new: bool,
    only_old: bool,
    greater: bool,
    less: bool,
    changed: bool,
    increment: bool,
}

impl Options {
    /// Reads the options at the front of the arguments, and what follows them.
    fn parse<'a>(args: &'a [&'a [u8]]) -> (Options, &'a [&'a [u8]]) {
        let mut options = Options::default();
        let mut rest = args;
        while let [option, after @ ..] = rest {
            let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
            match () {
                () if is(b"NX") => options.only_new = true,
                () if is(b"XX") => options.only_old = true,
                () if is(b"GT") => options.greater = true,
                () if is(b"LT") => options.less = true,
                () if is(b"CH") => options.changed = true,
                () if is(b"INCR") => options.increment = true,
                () => break,
            }
            rest = after;
        }
        (options, rest)
    }

    fn check(self, elements: usize) -> Result<(), Reply> {
        if self.only_new && self.only_old {
            return Err(Reply::error("ERR XX and NX options at the same time are not compatible"));
        }
        let exclusive = [self.greater, self.less, self.only_new];
        if exclusive.into_iter().filter(|given| *given).count() > 1 {
            return Err(Reply::error("ERR GT, LT, and/or NX options at the same time are not compatible"));
        }
        if self.increment && elements > 1 {
            return Err(Reply::error("ERR INCR option supports a single increment-element pair"));
        }
        Ok(())
    }
}

pub(crate) fn zadd(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (options, rest) = Options::parse(&args[2..]);
    if rest.is_empty() || !rest.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    add(store, args, options, rest)
}

pub(crate) fn zincrby(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    add(store, args, Options { increment: true, ..Options::default() }, &args[2..])
}

fn add(store: &mut Store, args: &[&[u8]], options: Options, pairs: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    options.check(pairs.len() / 2)?;
    let mut scores = Vec::with_capacity(pairs.len() / 2);
    for pair in pairs.chunks_exact(2) {
        scores.push(float(pair[0])?);
    }
    if options.only_old && store.found::<SortedSet>(key)?.is_none() {
        return Ok(if options.increment { Reply::Nil } else { Reply::Integer(0) });
    }
    let set = store.make::<SortedSet>(key)?;
    let (mut added, mut updated) = (0, 0);
    let mut last = None;
    for (pair, score) in pairs.chunks_exact(2).zip(scores) {
        let member = pair[1];
        match set.score(member) {
            None if options.only_old => {}
            None => {
                set.insert(member, score);
                added += 1;
                last = Some(score);
            }
            Some(_) if options.only_new => {}
            Some(old) => {
                let score = if options.increment { old + score } else { score };
                if score.is_nan() {
                    return Err(Reply::error("ERR resulting score is not a number (NaN)"));
                }
                if options.less && score >= old || options.greater && score <= old {
                    continue;
                }
                if score != old {
                    set.insert(member, score);
                    updated += 1;
                }
                last = Some(score);
            }
        }
    }
    if added + updated > 0 {
        store.changed(b'z', if options.increment { "zincr" } else { "zadd" }, key);
        store.propagate(args);
    }
    Ok(match last {
        _ if !options.increment => count(if options.changed { added + updated } else { added }),
        Some(score) => Reply::Double(score),
        None => Reply::Nil,
    })
}

pub(crate) fn zrem(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(set) = store.edit::<SortedSet>(args[1])? else { return Ok(Reply::Integer(0)) };
    let removed = args[2..].iter().filter(|member| set.remove(member).is_some()).count();
    if removed > 0 {
        store.changed(b'z', "zrem", args[1]);
        store.tidy::<SortedSet>(args[1]);
        store.propagate(args);
    }
    Ok(count(removed))
}

pub(crate) fn zcard(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.read::<SortedSet>(args[1])?.map_or(0, SortedSet::len)))
}

pub(crate) fn zscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.read::<SortedSet>(args[1])?;
    Ok(set.and_then(|set| set.score(args[2])).map_or(Reply::Nil, Reply::Double))
}

/// Members as they are replied, with or without their scores.
pub(crate) fn list(members: impl Iterator<Item = (Vec<u8>, f64)>, with_scores: bool) -> Reply {
    if with_scores {
        Reply::Pairs(members.map(|(member, score)| (Reply::Bulk(member), Reply::Double(score))).collect())
    } else {
        Reply::Array(members.map(|(member, _)| Reply::Bulk(member)).collect())
    }
}
