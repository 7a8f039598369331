//! The commands that wait for an element: BLPOP, BRPOP, BLMOVE, BRPOPLPUSH, and BLMPOP
//! (Redis 7.0 `t_list.c`, `blocked.c`).
//!
//! Each is its sister that does not wait, tried key by key. What was tried in vain is kept and tried again when one of
//! its keys is changed; replicas get what the sister did. In a transaction nobody waits.

use std::sync::Arc;

use super::lists::{self, End};
use super::numbers;
use super::sorted_sets::{self, Side};
use super::{OnData, SYNTAX, digits};
use crate::protocol::resp::{Reply, integer};
use crate::server::node::{Answer, Cause, Node, SessionId, Take};
use crate::server::store::{Store, Value};

/// The elements that are taken from a key.
#[derive(Clone, Debug)]
enum Pop {
    /// An element of a list, from an end of it.
    Element(End),
    /// A member of a sorted set, from a side of it.
    Member(Side),
    /// LMOVE or RPOPLPUSH, with the arguments after the source.
    Move { sister: Sister, rest: Vec<Vec<u8>> },
    /// LMPOP or ZMPOP, with the arguments after the keys.
    Several { sister: Sister, rest: Vec<Vec<u8>> },
}

/// A command that does not wait.
#[derive(Clone, Copy, Debug)]
struct Sister {
    name: &'static str,
    run: OnData,
}

const LMOVE: Sister = Sister { name: "LMOVE", run: lists::lmove };
const RPOPLPUSH: Sister = Sister { name: "RPOPLPUSH", run: lists::rpoplpush };
const LMPOP: Sister = Sister { name: "LMPOP", run: lists::lmpop };
impl Pop {
    /// Takes from a key; `None` if there is nothing to take.
    fn take(&self, store: &mut Store, key: &[u8]) -> Result<Option<Reply>, Reply> {
        match self {
            Pop::Element(end) => {
                let item = lists::pop(store, key, *end)?;
                Ok(item.map(|item| Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Bulk(item)])))
            }
            Pop::Member(side) => Ok(sorted_sets::pop(store, key, *side)?.map(|(member, score)| {
                Reply::Array(vec![Reply::Bulk(key.to_vec()), Reply::Bulk(member), Reply::Double(score)])
            })),
            Pop::Move { sister, rest } => {
                let mut args = vec![sister.name.as_bytes(), key];
                args.extend(rest.iter().map(Vec::as_slice));
                Ok(Some((sister.run)(store, &args)?).filter(is_something))
            }
            Pop::Several { sister, rest } => {
                let mut args = vec![sister.name.as_bytes(), b"1", key];
                args.extend(rest.iter().map(Vec::as_slice));
                Ok(Some((sister.run)(store, &args)?).filter(is_something))
            }
        }
    }
}

impl Take for Pop {
    /// A key of another type is nothing to it.
    fn serve(&self, store: &mut Store, key: &[u8]) -> Option<Reply> {
        let lists = match self {
            Pop::Several { sister, .. } => !sister.name.starts_with('Z'),
            Pop::Element(_) | Pop::Move { .. } => true,
            Pop::Member(_) => false,
        };
        let fits = match store.find(key).map(|entry| &entry.value) {
            Some(Value::List(_)) => lists,
            Some(Value::SortedSet(_)) => !lists,
            _ => false,
        };
        if fits { self.take(store, key).unwrap_or_else(Some) } else { None }
    }
}

fn is_something(reply: &Reply) -> bool {
    !matches!(reply, Reply::Nil | Reply::NilArray)
}

/// Takes from the first key that has something, or waits for one.
fn take_or_wait(
    node: &mut Node,
    id: SessionId,
    pop: Pop,
    keys: &[&[u8]],
    deadline: Option<i64>,
) -> Result<Answer, Reply> {
    for key in keys {
        if let Some(reply) = pop.take(&mut node.store, key)? {
            return Ok(reply.into());
        }
    }
    if node.is_nested() {
        return Ok(if matches!(pop, Pop::Move { .. }) { Reply::Nil } else { Reply::NilArray }.into());
    }
    let database = node.store.selected;
    let keys = keys.iter().map(|key| key.to_vec()).collect();
    Ok(node.wait_for(id, Cause::Keys { takes: Arc::new(pop), database, keys }, deadline))
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

fn one(node: &mut Node, id: SessionId, args: &[&[u8]], pop: Pop) -> Result<Answer, Reply> {
    let (timeout, keys) = args[1..].split_last().ok_or(SYNTAX)?;
    let deadline = deadline(node, timeout)?;
    take_or_wait(node, id, pop, keys, deadline)
}

pub(crate) fn blpop(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    one(node, id, args, Pop::Element(End::Left))
}

pub(crate) fn brpop(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    one(node, id, args, Pop::Element(End::Right))
}

pub(crate) fn blmove(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let side = |arg: &[u8]| arg.eq_ignore_ascii_case(b"LEFT") || arg.eq_ignore_ascii_case(b"RIGHT");
    if !side(args[3]) || !side(args[4]) {
        return Err(SYNTAX);
    }
    let deadline = deadline(node, args[5])?;
    let rest = args[2..5].iter().map(|arg| arg.to_vec()).collect();
    take_or_wait(node, id, Pop::Move { sister: LMOVE, rest }, &args[1..2], deadline)
}

pub(crate) fn brpoplpush(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let deadline = deadline(node, args[3])?;
    let rest = vec![args[2].to_vec()];
    take_or_wait(node, id, Pop::Move { sister: RPOPLPUSH, rest }, &args[1..2], deadline)
}

pub(crate) fn blmpop(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    several(node, id, args, LMPOP, [b"LEFT", b"RIGHT"])
}

/// `BLMPOP timeout numkeys key [key ...] LEFT|RIGHT [COUNT count]` and the same for sorted sets.
fn several(
    node: &mut Node,
    id: SessionId,
    args: &[&[u8]],
    sister: Sister,
    sides: [&[u8]; 2],
) -> Result<Answer, Reply> {
    let deadline = deadline(node, args[1])?;
    let positive =
        |arg: &[u8], text| crate::protocol::resp::integer(arg).filter(|n| *n > 0).ok_or(Reply::error(text));
    let len = positive(args[2], "ERR numkeys should be greater than 0")?;
    let len = usize::try_from(len).map_err(|_| SYNTAX)?;
    let (keys, rest) = args[3..].split_at_checked(len).ok_or(SYNTAX)?;
    let (side, options) = rest.split_first().ok_or(SYNTAX)?;
    if !sides.iter().any(|name| side.eq_ignore_ascii_case(name)) {
        return Err(SYNTAX);
    }
    let count = match options {
        [] => 1,
        [word, count] if word.eq_ignore_ascii_case(b"COUNT") => {
            positive(count, "ERR count should be greater than 0")?
        }
        _ => return Err(SYNTAX),
    };
    let rest = vec![side.to_vec(), b"COUNT".to_vec(), digits(count)];
    take_or_wait(node, id, Pop::Several { sister, rest }, keys, deadline)
}
