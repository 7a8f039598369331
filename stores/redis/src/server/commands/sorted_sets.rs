//! Sorted sets: members and their scores (Redis 7.0 `t_zset.c`).
//!
//! [`pop_quietly`] and its callers are also what a blocked client is served with.

use super::lists::Many;
use super::numbers::{Sample, float, positive};
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
    let mut set = store.make::<SortedSet>(key)?;
    let (mut added, mut updated) = (0, 0);
    let mut last = None;
    for (pair, score) in pairs.chunks_exact(2).zip(scores) {
        let member = pair[1];
        match set.value.score(member) {
            None if options.only_old => {}
            None => {
                set.set(member, score);
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
                    set.set(member, score);
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
    let removed = args[2..].iter().filter(|member| set.value.remove(member).is_some()).count();
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

fn score(set: Option<&SortedSet>, member: &[u8]) -> Reply {
    set.and_then(|set| set.score(member)).map_or(Reply::Nil, Reply::Double)
}

pub(crate) fn zscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(score(store.read::<SortedSet>(args[1])?, args[2]))
}

pub(crate) fn zmscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.read::<SortedSet>(args[1])?;
    Ok(Reply::Array(args[2..].iter().map(|member| score(set, member)).collect()))
}

pub(crate) fn zrank(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.read::<SortedSet>(args[1])?;
    let rank = set.and_then(|set| set.iter().position(|(member, _)| member == args[2]));
    Ok(rank.map_or(Reply::Nil, count))
}

pub(crate) fn zrevrank(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.read::<SortedSet>(args[1])?;
    let rank = set.and_then(|set| set.iter().rev().position(|(member, _)| member == args[2]));
    Ok(rank.map_or(Reply::Nil, count))
}

pub(crate) fn zrandmember(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let with_scores = args.len() > 3;
    let asked = args.get(2).map(|asked| Sample::parse(asked, false)).transpose()?;
    if args.len() > 4 || with_scores && !args[3].eq_ignore_ascii_case(b"WITHSCORES") {
        return Err(SYNTAX);
    }
    let asked = if with_scores { Some(Sample::parse(args[2], true)?) } else { asked };
    let members: Vec<(Vec<u8>, f64)> = match store.read::<SortedSet>(args[1])? {
        Some(set) => set.iter().map(|(member, score)| (member.to_vec(), score)).collect(),
        None => Vec::new(),
    };
    let Some(asked) = asked else {
        let at = store.random_below(members.len());
        return Ok(members.into_iter().nth(at).map_or(Reply::Nil, |(member, _)| Reply::Bulk(member)));
    };
    let places = asked.draw(store, members.len());
    Ok(list(places.into_iter().map(|at| members[at].clone()), with_scores))
}

/// Members as they are replied, with or without their scores.
pub(crate) fn list(members: impl Iterator<Item = (Vec<u8>, f64)>, with_scores: bool) -> Reply {
    if with_scores {
        Reply::Pairs(members.map(|(member, score)| (Reply::Bulk(member), Reply::Double(score))).collect())
    } else {
        Reply::Array(members.map(|(member, _)| Reply::Bulk(member)).collect())
    }
}

/// An end of a sorted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Where the least scores are.
    Min,
    /// Where the greatest scores are.
    Max,
}

impl Side {
    /// Reads `MIN` or `MAX`.
    ///
    /// # Errors
    /// The reply to give for anything else.
    pub(crate) fn parse(arg: &[u8]) -> Result<Side, Reply> {
        match () {
            () if arg.eq_ignore_ascii_case(b"MIN") => Ok(Side::Min),
            () if arg.eq_ignore_ascii_case(b"MAX") => Ok(Side::Max),
            () => Err(SYNTAX),
        }
    }

    fn command(self) -> &'static [u8] {
        if self == Side::Min { b"ZPOPMIN" } else { b"ZPOPMAX" }
    }
}

/// Members with their scores.
type Scored = Vec<(Vec<u8>, f64)>;

/// Takes up to `most` members; the effect is the caller's. `None` if there is no sorted set.
fn pop_quietly(store: &mut Store, key: &[u8], side: Side, most: usize) -> Result<Option<Scored>, Reply> {
    let Some(set) = store.edit::<SortedSet>(key)? else { return Ok(None) };
    let owned = |(member, score): (&[u8], f64)| (member.to_vec(), score);
    let taken: Vec<_> = match side {
        Side::Min => set.value.iter().take(most).map(owned).collect(),
        Side::Max => set.value.iter().rev().take(most).map(owned).collect(),
    };
    for (member, _) in &taken {
        set.value.remove(member);
    }
    if !taken.is_empty() {
        store.changed(b'z', if side == Side::Min { "zpopmin" } else { "zpopmax" }, key);
        store.tidy::<SortedSet>(key);
    }
    Ok(Some(taken))
}

/// Takes the first or last member and its score, as ZPOPMIN or ZPOPMAX does. `None` if there is no sorted set.
///
/// # Errors
/// The reply to give when the key holds another type.
pub(crate) fn pop(store: &mut Store, key: &[u8], side: Side) -> Result<Option<(Vec<u8>, f64)>, Reply> {
    let taken = pop_quietly(store, key, side, 1)?.and_then(|mut taken| taken.pop());
    if taken.is_some() {
        store.propagate(&[side.command(), key]);
    }
    Ok(taken)
}

pub(crate) fn zpopmin(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    pop_command(store, args, Side::Min)
}

pub(crate) fn zpopmax(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    pop_command(store, args, Side::Max)
}

fn pop_command(store: &mut Store, args: &[&[u8]], side: Side) -> Result<Reply, Reply> {
    let most = match args.get(2) {
        _ if args.len() > 3 => return Err(SYNTAX),
        None => None,
        Some(most) => Some(positive(most)?),
    };
    let taken = pop_quietly(store, args[1], side, most.unwrap_or(1))?.unwrap_or_default();
    if !taken.is_empty() {
        store.propagate(args);
    }
    if most.is_some() {
        return Ok(list(taken.into_iter(), true));
    }
    let flat = taken.into_iter().flat_map(|(member, score)| [Reply::Bulk(member), Reply::Double(score)]);
    Ok(Reply::Array(flat.collect()))
}

/// Takes members from the first of the sorted sets that is there: its key, and the members with their scores.
///
/// # Errors
/// The reply to give when a key before it holds another type.
pub(crate) fn pop_first(store: &mut Store, many: &Many<'_, Side>) -> Result<Option<Reply>, Reply> {
    for key in many.keys {
        if let Some(taken) = pop_quietly(store, key, many.end, many.most)? {
            store.propagate(&[many.end.command(), key, taken.len().to_string().as_bytes()]);
            let pairs = taken
                .into_iter()
                .map(|(member, score)| Reply::Array(vec![Reply::Bulk(member), Reply::Double(score)]));
            return Ok(Some(Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Array(pairs.collect())])));
        }
    }
    Ok(None)
}

pub(crate) fn zmpop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let many = Many::parse(&args[1..], Side::parse)?;
    Ok(pop_first(store, &many)?.unwrap_or(Reply::NilArray))
}
