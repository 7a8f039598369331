//! Lists: their elements by place and by value (Redis 7.0 `t_list.c`).

use super::numbers::span;
use super::{count, number};
use crate::protocol::resp::Reply;
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

/// Removes so many elements from the head, from the tail if negative, all if zero.
pub(crate) fn lrem(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let asked = number(args[2])?;
    let Some(list) = store.edit::<List>(args[1])? else { return Ok(Reply::Integer(0)) };
    let most = if asked == 0 { u64::MAX } else { asked.unsigned_abs() };
    let fits = |at: &usize| list[*at] == args[3];
    let places = 0..list.len();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut gone: Vec<usize> = if asked < 0 {
        places.rev().filter(fits).take(most).collect()
    } else {
        places.filter(fits).take(most).collect()
    };
    gone.sort_unstable();
    let mut at = 0;
    list.retain(|_| {
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
