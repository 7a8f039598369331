//! Lists: pushing and popping (Redis 7.0 `t_list.c`).
//!
//! [`pop`] also serves a blocked client.

use super::numbers::positive;
use super::{count, wrong_arity};
use crate::protocol::resp::Reply;
use crate::server::store::{List, Store};

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The head.
    Left,
    /// The tail.
    Right,
}

pub(crate) fn lpush(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    push(store, args, End::Left)
}

pub(crate) fn rpush(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    push(store, args, End::Right)
}

fn push(store: &mut Store, args: &[&[u8]], end: End) -> Result<Reply, Reply> {
    let list = store.make::<List>(args[1])?;
    for element in &args[2..] {
        add(list, end, element.to_vec());
    }
    let len = list.len();
    store.changed(b'l', if end == End::Left { "lpush" } else { "rpush" }, args[1]);
    store.propagate(args);
    Ok(count(len))
}

fn add(list: &mut List, end: End, element: Vec<u8>) {
    match end {
        End::Left => list.push_front(element),
        End::Right => list.push_back(element),
    }
}

fn take(list: &mut List, end: End) -> Option<Vec<u8>> {
    match end {
        End::Left => list.pop_front(),
        End::Right => list.pop_back(),
    }
}

/// Takes up to `most` elements from a list; the effect is the caller's. `None` if there is no list.
fn pop_quietly(store: &mut Store, key: &[u8], end: End, most: usize) -> Result<Option<Vec<Vec<u8>>>, Reply> {
    let Some(list) = store.edit::<List>(key)? else { return Ok(None) };
    let taken: Vec<Vec<u8>> = (0..most.min(list.len())).map_while(|_| take(list, end)).collect();
    if !taken.is_empty() {
        store.changed(b'l', if end == End::Left { "lpop" } else { "rpop" }, key);
        store.tidy::<List>(key);
    }
    Ok(Some(taken))
}

/// Takes one element from a list, as LPOP or RPOP does. `None` if there is no list.
///
/// # Errors
/// The reply to give when the key holds another type.
pub(crate) fn pop(store: &mut Store, key: &[u8], end: End) -> Result<Option<Vec<u8>>, Reply> {
    let taken = pop_quietly(store, key, end, 1)?.and_then(|mut taken| taken.pop());
    if taken.is_some() {
        store.propagate(&[if end == End::Left { b"LPOP" } else { b"RPOP" }, key]);
    }
    Ok(taken)
}

pub(crate) fn lpop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    pop_command(store, args, End::Left, "lpop")
}

pub(crate) fn rpop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    pop_command(store, args, End::Right, "rpop")
}

fn pop_command(store: &mut Store, args: &[&[u8]], end: End, name: &str) -> Result<Reply, Reply> {
    let most = match args.get(2) {
        _ if args.len() > 3 => return Err(wrong_arity(name)),
        None => None,
        Some(most) => Some(positive(most)?),
    };
    let taken = pop_quietly(store, args[1], end, most.unwrap_or(1))?;
    if taken.as_ref().is_some_and(|taken| !taken.is_empty()) {
        store.propagate(args);
    }
    Ok(match (taken, most) {
        (None, None) => Reply::Nil,
        (None, Some(_)) => Reply::NilArray,
        (Some(mut taken), None) => taken.pop().map_or(Reply::Nil, Reply::Bulk),
        (Some(taken), Some(_)) => Reply::Array(taken.into_iter().map(Reply::Bulk).collect()),
    })
}
