//! Sorted sets: ranges by rank and by score (Redis 7.0 `t_zset.c`).
//!
//! Left out on purpose: ranges by member, and the options of ZRANGE besides WITHSCORES.

use super::numbers::{lenient, span};
use super::sorted_sets::list;
use super::{SYNTAX, count, number};
use crate::protocol::resp::Reply;
use crate::server::store::{SortedSet, Store};

/// A bound of a range by score.
#[derive(Clone, Copy)]
struct Score {
    at: f64,
    open: bool,
}

impl Score {
    fn parse(arg: &[u8]) -> Option<Score> {
        match arg {
            [b'(', rest @ ..] => lenient(rest).map(|at| Score { at, open: true }),
            _ => lenient(arg).map(|at| Score { at, open: false }),
        }
    }
}

/// Members with their scores.
type Scored = Vec<(Vec<u8>, f64)>;

fn owned((member, score): (&[u8], f64)) -> (Vec<u8>, f64) {
    (member.to_vec(), score)
}

fn bounds(min: &[u8], max: &[u8]) -> Result<(Score, Score), Reply> {
    Score::parse(min).zip(Score::parse(max)).ok_or(Reply::error("ERR min or max is not a float"))
}

/// The members between two scores, in order.
fn between(set: &SortedSet, (min, max): (Score, Score)) -> Scored {
    let above = |score: f64| if min.open { score > min.at } else { score >= min.at };
    let below = |score: f64| if max.open { score < max.at } else { score <= max.at };
    let from = set.iter().skip_while(|(_, score)| !above(*score));
    from.take_while(|(_, score)| below(*score)).map(owned).collect()
}

pub(crate) fn zrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let with_scores = match &args[4..] {
        [] => false,
        [option] if option.eq_ignore_ascii_case(b"WITHSCORES") => true,
        [option, ..] => {
            let named = ["BYSCORE", "BYLEX", "REV", "LIMIT"];
            let known = named.into_iter().find(|name| option.eq_ignore_ascii_case(name.as_bytes()));
            return Err(known.map_or(SYNTAX, |name| store.not_modelled(&format!("ZRANGE with {name}"))));
        }
    };
    let (start, end) = (number(args[2])?, number(args[3])?);
    let members: Scored = match store.read::<SortedSet>(args[1])? {
        Some(set) => {
            let part = span(set.len(), start, end);
            set.iter().skip(part.start).take(part.len()).map(owned).collect()
        }
        None => Vec::new(),
    };
    Ok(list(members.into_iter(), with_scores))
}

pub(crate) fn zrangebyscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (mut limit, mut with_scores) = ((0, -1), false);
    let mut rest = &args[4..];
    while let [option, after @ ..] = rest {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        rest = after;
        match after {
            _ if is(b"WITHSCORES") => with_scores = true,
            [offset, most, after @ ..] if is(b"LIMIT") => {
                limit = (number(offset)?, number(most)?);
                rest = after;
            }
            _ => return Err(SYNTAX),
        }
    }
    let bounds = bounds(args[2], args[3])?;
    let members = store.read::<SortedSet>(args[1])?.map(|set| between(set, bounds)).unwrap_or_default();
    // An offset before the beginning is beyond the end; less than none is all.
    let [offset, most] = [limit.0, limit.1].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    Ok(list(members.into_iter().skip(offset).take(most), with_scores))
}

pub(crate) fn zcount(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let bounds = bounds(args[2], args[3])?;
    Ok(count(store.read::<SortedSet>(args[1])?.map_or(0, |set| between(set, bounds).len())))
}

pub(crate) fn zremrangebyscore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let bounds = bounds(args[2], args[3])?;
    let Some(set) = store.edit::<SortedSet>(args[1])? else { return Ok(Reply::Integer(0)) };
    let gone = between(set, bounds);
    for (member, _) in &gone {
        set.remove(member);
    }
    if !gone.is_empty() {
        store.changed(b'z', "zremrangebyscore", args[1]);
        store.tidy::<SortedSet>(args[1]);
        store.propagate(args);
    }
    Ok(count(gone.len()))
}
