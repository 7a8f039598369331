//! Sorted sets: ranges by rank, by score and by member (Redis 7.0 `t_zset.c`).
//!
//! Ranges by member are meant for sets in which all scores are equal; in others the answer is whatever a search along
//! the set comes to, here as in Redis as long as the set is small.

use super::numbers::lenient;
use super::ranges::span;
use super::sorted_sets::list;
use super::{SYNTAX, count, number};
use crate::protocol::resp::Reply;
use crate::server::store::{SortedSet, Store, Value};

/// A bound of a range by score.
#[derive(Clone, Copy)]
struct Score {
    at: f64,
    open: bool,
}

/// A bound of a range by member.
#[derive(Clone, Copy)]
enum Lex<'a> {
    Least,
    Most,
    At { member: &'a [u8], open: bool },
}

/// The range that a command asks for.
enum Range<'a> {
    Ranks(i64, i64),
    Scores(Score, Score),
    Members(Lex<'a>, Lex<'a>),
}

impl Score {
    fn parse(arg: &[u8]) -> Option<Score> {
        match arg {
            [b'(', rest @ ..] => lenient(rest).map(|at| Score { at, open: true }),
            _ => lenient(arg).map(|at| Score { at, open: false }),
        }
    }
}

impl Lex<'_> {
    fn parse(arg: &[u8]) -> Option<Lex<'_>> {
        match arg {
            b"-" => Some(Lex::Least),
            b"+" => Some(Lex::Most),
            [b'(', member @ ..] => Some(Lex::At { member, open: true }),
            [b'[', member @ ..] => Some(Lex::At { member, open: false }),
            _ => None,
        }
    }

    /// True if nothing can be between this bound and that one above it.
    fn excludes(self, above: Lex<'_>) -> bool {
        match (self, above) {
            (Lex::Most, _) | (_, Lex::Least) => true,
            (Lex::At { member: low, open: a }, Lex::At { member: high, open: b }) => {
                low > high || low == high && (a || b)
            }
            _ => false,
        }
    }

    fn is_below(self, other: &[u8]) -> bool {
        match self {
            Lex::Least => true,
            Lex::Most => false,
            Lex::At { member, open } => {
                if open {
                    member < other
                } else {
                    member <= other
                }
            }
        }
    }

    fn is_above(self, other: &[u8]) -> bool {
        match self {
            Lex::Least => false,
            Lex::Most => true,
            Lex::At { member, open } => {
                if open {
                    member > other
                } else {
                    member >= other
                }
            }
        }
    }
}

impl<'a> Range<'a> {
    fn ranks(start: &[u8], end: &[u8]) -> Result<Range<'a>, Reply> {
        Ok(Range::Ranks(number(start)?, number(end)?))
    }

    fn scores(min: &[u8], max: &[u8]) -> Result<Range<'a>, Reply> {
        let bounds = Score::parse(min).zip(Score::parse(max));
        bounds.map(|(min, max)| Range::Scores(min, max)).ok_or(Reply::error("ERR min or max is not a float"))
    }

    fn members(min: &'a [u8], max: &'a [u8]) -> Result<Range<'a>, Reply> {
        let bounds = Lex::parse(min).zip(Lex::parse(max));
        let bad = Reply::error("ERR min or max not valid string range item");
        bounds.map(|(min, max)| Range::Members(min, max)).ok_or(bad)
    }

    /// The members in the range but the first so many, in order, or from the greatest to the least. Ranks then count from
    /// the greatest.
    ///
    /// Skipped members need not be in the range. That shows only where a range by members meets scores that differ, for
    /// which Redis promises nothing; it is as Redis does it.
    fn of(&self, set: &SortedSet, reverse: bool, skipped: usize) -> Vec<(Vec<u8>, f64)> {
        let owned = |(member, score): (&[u8], f64)| (member.to_vec(), score);
        match *self {
            Range::Ranks(start, end) => {
                let part = span(set.len(), start, end);
                if reverse {
                    set.iter().rev().skip(part.start).take(part.len()).skip(skipped).map(owned).collect()
                } else {
                    set.iter().skip(part.start).take(part.len()).skip(skipped).map(owned).collect()
                }
            }
            Range::Scores(min, max) => {
                let above = |score: f64| if min.open { score > min.at } else { score >= min.at };
                let below = |score: f64| if max.open { score < max.at } else { score <= max.at };
                let from = set.iter().skip_while(|(_, score)| !above(*score));
                let mut members: Vec<_> = from.take_while(|(_, score)| below(*score)).map(owned).collect();
                if reverse {
                    members.reverse();
                }
                members.into_iter().skip(skipped).collect()
            }
            Range::Members(min, max) => {
                let first = set.iter().next().is_some_and(|(member, _)| max.is_above(member));
                let last = set.iter().next_back().is_some_and(|(member, _)| min.is_below(member));
                if !first || !last || min.excludes(max) {
                    return Vec::new();
                }
                let (low, high) =
                    (|member: &[u8]| min.is_below(member), |member: &[u8]| max.is_above(member));
                if reverse {
                    let mut from = set.iter().rev().skip_while(|(member, _)| !high(member)).peekable();
                    if !from.peek().is_some_and(|(member, _)| low(member)) {
                        return Vec::new();
                    }
                    from.skip(skipped).take_while(|(member, _)| low(member)).map(owned).collect()
                } else {
                    let mut from = set.iter().skip_while(|(member, _)| !low(member)).peekable();
                    if !from.peek().is_some_and(|(member, _)| high(member)) {
                        return Vec::new();
                    }
                    from.skip(skipped).take_while(|(member, _)| high(member)).map(owned).collect()
                }
            }
        }
    }
}

/// The parts that the range commands have in common once they are parsed.
struct Query<'a> {
    range: Range<'a>,
    reverse: bool,
    limit: Option<(i64, i64)>,
    with_scores: bool,
}

/// By what a range is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Member,
}

/// Reads bounds and options. What the name of a command says already, its options cannot say.
fn query<'a>(
    args: &[&'a [u8]],
    mut by: Option<By>,
    mut reverse: Option<bool>,
    may_score: bool,
) -> Result<Query<'a>, Reply> {
    let [first, second, options @ ..] = args else { return Err(SYNTAX) };
    let (mut limit, mut with_scores) = (None, false);
    let mut rest = options;
    while let [option, after @ ..] = rest {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        rest = after;
        match after {
            _ if is(b"WITHSCORES") && may_score => with_scores = true,
            [offset, most, after @ ..] if is(b"LIMIT") => {
                limit = Some((number(offset)?, number(most)?));
                rest = after;
            }
            _ if is(b"REV") && reverse.is_none() => reverse = Some(true),
            _ if is(b"BYLEX") && by.is_none() => by = Some(By::Member),
            _ if is(b"BYSCORE") && by.is_none() => by = Some(By::Score),
            _ => return Err(SYNTAX),
        }
    }
    let (by, reverse) = (by.unwrap_or(By::Rank), reverse.unwrap_or(false));
    if by == By::Rank && limit.is_some_and(|(_, most)| most != -1) {
        return Err(Reply::error(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ));
    }
    if by == By::Member && with_scores {
        return Err(Reply::error("ERR syntax error, WITHSCORES not supported in combination with BYLEX"));
    }
    let (min, max) = if reverse { (second, first) } else { (first, second) };
    let range = match by {
        By::Rank => Range::ranks(first, second)?,
        By::Score => Range::scores(min, max)?,
        By::Member => Range::members(min, max)?,
    };
    Ok(Query { range, reverse, limit: limit.filter(|_| by != By::Rank), with_scores })
}

/// The members that a query asks for.
fn select(store: &mut Store, key: &[u8], query: &Query<'_>) -> Result<Vec<(Vec<u8>, f64)>, Reply> {
    let Some(set) = store.read::<SortedSet>(key)? else { return Ok(Vec::new()) };
    let Some((offset, most)) = query.limit else { return Ok(query.range.of(set, query.reverse, 0)) };
    // An offset before the beginning is beyond the end.
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut members = query.range.of(set, query.reverse, offset);
    members.truncate(most);
    Ok(members)
}

fn run(store: &mut Store, args: &[&[u8]], by: Option<By>, reverse: Option<bool>) -> Result<Reply, Reply> {
    let query = query(&args[2..], by, reverse, true)?;
    let members = select(store, args[1], &query)?;
    Ok(list(members.into_iter(), query.with_scores))
}

pub(crate) fn zrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, None, None)
}

pub(crate) fn zrevrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, Some(By::Rank), Some(true))
}

pub(crate) fn zrangebyscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, Some(By::Score), Some(false))
}

pub(crate) fn zrevrangebyscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, Some(By::Score), Some(true))
}

pub(crate) fn zrangebylex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, Some(By::Member), Some(false))
}

pub(crate) fn zrevrangebylex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, Some(By::Member), Some(true))
}

pub(crate) fn zrangestore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let query = query(&args[3..], None, None, false)?;
    let members = select(store, args[2], &query)?;
    keep(store, args, args[1], members.into_iter(), "zrangestore")
}

/// Stores the result of a command. Without a result, the target is deleted.
pub(crate) fn keep(
    store: &mut Store,
    args: &[&[u8]],
    target: &[u8],
    members: impl Iterator<Item = (Vec<u8>, f64)>,
    event: &'static str,
) -> Result<Reply, Reply> {
    let mut set = SortedSet::default();
    for (member, score) in members {
        set.insert(&member, score);
    }
    let len = set.len();
    if len == 0 {
        if super::keys::delete(store, target) {
            store.propagate(args);
        }
        return Ok(Reply::Integer(0));
    }
    let replaced = store.find(target).is_some();
    store.create(target, Value::SortedSet(set), None, false);
    store.stored(b'z', event, target, replaced);
    store.propagate(args);
    Ok(count(len))
}

fn count_in(store: &mut Store, key: &[u8], range: &Range<'_>) -> Result<Reply, Reply> {
    Ok(count(store.read::<SortedSet>(key)?.map_or(0, |set| range.of(set, false, 0).len())))
}

pub(crate) fn zcount(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    count_in(store, args[1], &Range::scores(args[2], args[3])?)
}

pub(crate) fn zlexcount(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    count_in(store, args[1], &Range::members(args[2], args[3])?)
}

fn remove(store: &mut Store, args: &[&[u8]], range: &Range<'_>, event: &'static str) -> Result<Reply, Reply> {
    let Some(set) = store.edit::<SortedSet>(args[1])? else { return Ok(Reply::Integer(0)) };
    let gone = range.of(set.value, false, 0);
    for (member, _) in &gone {
        set.value.remove(member);
    }
    if !gone.is_empty() {
        store.changed(b'z', event, args[1]);
        store.tidy::<SortedSet>(args[1]);
        store.propagate(args);
    }
    Ok(count(gone.len()))
}

pub(crate) fn zremrangebyrank(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    remove(store, args, &Range::ranks(args[2], args[3])?, "zremrangebyrank")
}

pub(crate) fn zremrangebyscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    remove(store, args, &Range::scores(args[2], args[3])?, "zremrangebyscore")
}

pub(crate) fn zremrangebylex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    remove(store, args, &Range::members(args[2], args[3])?, "zremrangebylex")
}
