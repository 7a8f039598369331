//! The commands that wait for an element of a list: BLPOP and BRPOP (Redis 7.0 `t_list.c`, `blocked.c`).
//!
//! Each is its sister that does not wait, tried key by key. What was tried in vain is kept and tried again when one of
//! its keys is changed; replicas get what the sister did. In a transaction nobody waits.

use std::sync::Arc;

use super::SYNTAX;
use super::lists::{self, End};
use super::numbers;
use crate::protocol::resp::{Reply, integer};
use crate::server::node::{Answer, Cause, Node, SessionId, Take};
use crate::server::store::{Store, Value};

/// An element from an end of a list.
#[derive(Clone, Debug)]
struct Pop(End);

impl Pop {
    /// Takes from a key; `None` if there is nothing to take.
    fn take(&self, store: &mut Store, key: &[u8]) -> Result<Option<Reply>, Reply> {
        let item = lists::pop(store, key, self.0)?;
        Ok(item.map(|item| Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Bulk(item)])))
    }
}

impl Take for Pop {
    /// A key of another type is nothing to it.
    fn serve(&self, store: &mut Store, key: &[u8]) -> Option<Reply> {
        let fits = matches!(store.find(key).map(|entry| &entry.value), Some(Value::List(_)));
        if fits { self.take(store, key).unwrap_or_else(Some) } else { None }
    }
}

/// The last millisecond of a wait of so many seconds; none if it is without limit.
fn deadline(node: &Node, timeout: &[u8]) -> Result<Option<i64>, Reply> {
    let spaced = timeout.first().is_some_and(u8::is_ascii_whitespace);
    let seconds = numbers::lenient(timeout).filter(|_| !spaced);
    let seconds = seconds.ok_or(Reply::error("ERR timeout is not a float or out of range"))?;
    // Redis counts with more digits than a double has: whole seconds are exact.
    let whole = integer(timeout).and_then(|seconds| seconds.checked_mul(1_000));
    if let Some(ms) = whole.filter(|ms| *ms > 0) {
        return Ok(node.store.now_ms().checked_add(ms));
    }
    let ms = (seconds * 1000.0).ceil();
    // Redis converts what does not fit to the least integer.
    if ms < 0.0 || ms >= i64::MAX as f64 {
        return Err(Reply::error("ERR timeout is negative"));
    }
    match ms as i64 {
        0 => Ok(None),
        // A deadline that no clock reaches is none.
        ms => Ok(node.store.now_ms().checked_add(ms)),
    }
}

/// Takes from the first key that has something, or waits for one.
fn take_or_wait(node: &mut Node, id: SessionId, args: &[&[u8]], end: End) -> Result<Answer, Reply> {
    let (timeout, keys) = args[1..].split_last().ok_or(SYNTAX)?;
    let deadline = deadline(node, timeout)?;
    let pop = Pop(end);
    for key in keys {
        if let Some(reply) = pop.take(&mut node.store, key)? {
            return Ok(reply.into());
        }
    }
    if node.is_nested() {
        return Ok(Reply::NilArray.into());
    }
    let database = node.store.selected;
    let keys = keys.iter().map(|key| key.to_vec()).collect();
    Ok(node.wait_for(id, Cause::Keys { takes: Arc::new(pop), database, keys }, deadline))
}

pub(crate) fn blpop(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    take_or_wait(node, id, args, End::Left)
}

pub(crate) fn brpop(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    take_or_wait(node, id, args, End::Right)
}
