//! Lists: their elements by place and by value (Redis 7.0 `t_list.c`).

use super::ranges::span;
use super::{NOT_AN_INTEGER, SYNTAX, count, number};
use crate::protocol::resp::{self, Reply};
use crate::server::store::{List, Store};

pub(crate) fn llen(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.read::<List>(args[1])?.map_or(0, List::len)))
}

/// The place of an index, which counts from the end if negative.
fn place(len: usize, index: i64) -> Option<usize> {
    let from_end = || usize::try_from(index.unsigned_abs()).ok().and_then(|back| len.checked_sub(back));
    let at = if index < 0 { from_end() } else { usize::try_from(index).ok() };
    at.filter(|at| *at < len)
}

pub(crate) fn lindex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(list) = store.read::<List>(args[1])? else { return Ok(Reply::Nil) };
    let at = place(list.len(), number(args[2])?);
    Ok(at.map_or(Reply::Nil, |at| Reply::Bulk(list[at].clone())))
}

pub(crate) fn lrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (start, end) = (number(args[2])?, number(args[3])?);
    let Some(list) = store.read::<List>(args[1])? else { return Ok(Reply::Array(Vec::new())) };
    let part = list.range(span(list.len(), start, end));
    Ok(Reply::Array(part.cloned().map(Reply::Bulk).collect()))
}

pub(crate) fn lset(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let list = store.edit::<List>(args[1])?.ok_or(Reply::error("ERR no such key"))?;
    let at = place(list.value.len(), number(args[2])?).ok_or(Reply::error("ERR index out of range"))?;
    list.value[at] = args[3].to_vec();
    store.changed(b'l', "lset", args[1]);
    store.propagate(args);
    Ok(Reply::OK)
}

pub(crate) fn linsert(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let after = match () {
        () if args[2].eq_ignore_ascii_case(b"AFTER") => 1,
        () if args[2].eq_ignore_ascii_case(b"BEFORE") => 0,
        () => return Err(SYNTAX),
    };
    let Some(list) = store.edit::<List>(args[1])? else { return Ok(Reply::Integer(0)) };
    let Some(pivot) = list.value.iter().position(|element| element == args[3]) else {
        return Ok(Reply::Integer(-1));
    };
    list.value.insert(pivot + after, args[4].to_vec());
    let len = list.value.len();
    store.changed(b'l', "linsert", args[1]);
    store.propagate(args);
    Ok(count(len))
}

pub(crate) fn ltrim(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (start, end) = (number(args[2])?, number(args[3])?);
    let Some(list) = store.edit::<List>(args[1])? else { return Ok(Reply::OK) };
    let before = list.value.len();
    let kept = span(before, start, end);
    list.value.truncate(kept.end);
    list.value.drain(..kept.start);
    let trimmed = list.value.len() < before;
    store.changed(b'l', "ltrim", args[1]);
    store.tidy::<List>(args[1]);
    if trimmed {
        store.propagate(args);
    }
    Ok(Reply::OK)
}

/// Removes so many elements from the head, from the tail if negative, all if zero.
pub(crate) fn lrem(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let asked = number(args[2])?;
    let Some(list) = store.edit::<List>(args[1])? else { return Ok(Reply::Integer(0)) };
    let most = if asked == 0 { u64::MAX } else { asked.unsigned_abs() };
    let fits = |at: &usize| list.value[*at] == args[3];
    let places = 0..list.value.len();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut gone: Vec<usize> = if asked < 0 {
        places.rev().filter(fits).take(most).collect()
    } else {
        places.filter(fits).take(most).collect()
    };
    gone.sort_unstable();
    let mut at = 0;
    list.value.retain(|_| {
        at += 1;
        gone.binary_search(&(at - 1)).is_err()
    });
    if !gone.is_empty() {
        store.changed(b'l', "lrem", args[1]);
        store.tidy::<List>(args[1]);
        store.propagate(args);
    }
    Ok(count(gone.len()))
}

pub(crate) fn lpos(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (mut rank, mut most, mut looks) = (1, None, 0);
    let not_negative = |arg: &[u8], negative: &'static str| {
        let number = resp::integer(arg).and_then(|number| usize::try_from(number).ok());
        number.ok_or(Reply::error(negative))
    };
    for option in args[3..].chunks(2) {
        let [name, value] = option else { return Err(SYNTAX) };
        match () {
            () if name.eq_ignore_ascii_case(b"RANK") => {
                rank = resp::integer(value).ok_or(NOT_AN_INTEGER)?;
                if rank == 0 {
                    return Err(Reply::error(
                        "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use \
                         negative to start from the end of the list",
                    ));
                }
            }
            () if name.eq_ignore_ascii_case(b"COUNT") => {
                most = Some(not_negative(value, "ERR COUNT can't be negative")?);
            }
            () if name.eq_ignore_ascii_case(b"MAXLEN") => {
                looks = not_negative(value, "ERR MAXLEN can't be negative")?;
            }
            () => return Err(SYNTAX),
        }
    }
    let list = store.read::<List>(args[1])?;
    let len = list.map_or(0, List::len);
    let at = |step: usize| if rank < 0 { len - 1 - step } else { step };
    let fits = |place: &usize| list.is_some_and(|list| list[*place] == args[2]);
    let looks = if looks == 0 { len } else { looks.min(len) };
    // The least integer has no opposite in Redis, and every match comes after it.
    let skipped = if rank == i64::MIN { 0 } else { rank.unsigned_abs() - 1 };
    let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
    let mut found = (0..looks).map(at).filter(fits).skip(skipped);
    Ok(match most {
        None => found.next().map_or(Reply::Nil, count),
        Some(0) => Reply::Array(found.map(count).collect()),
        Some(most) => Reply::Array(found.take(most).map(count).collect()),
    })
}
