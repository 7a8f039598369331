//! Lists: pushing, popping and moving (Redis 7.0 `t_list.c`).
//!
//! [`pop`] and [`transfer`] are also what a blocked client is served with.

use super::numbers::{at_least_one, positive};
use super::{SYNTAX, count, wrong_arity};
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

impl End {
    /// Reads `LEFT` or `RIGHT`.
    ///
    /// # Errors
    /// The reply to give for anything else.
    pub(crate) fn parse(arg: &[u8]) -> Result<End, Reply> {
        match () {
            () if arg.eq_ignore_ascii_case(b"LEFT") => Ok(End::Left),
            () if arg.eq_ignore_ascii_case(b"RIGHT") => Ok(End::Right),
            () => Err(SYNTAX),
        }
    }
}

pub(crate) fn lpush(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    push(store, args, End::Left)
}

pub(crate) fn rpush(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    push(store, args, End::Right)
}

pub(crate) fn lpushx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if store.found::<List>(args[1])?.is_none() { Ok(Reply::Integer(0)) } else { push(store, args, End::Left) }
}

pub(crate) fn rpushx(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    if store.found::<List>(args[1])?.is_none() {
        Ok(Reply::Integer(0))
    } else {
        push(store, args, End::Right)
    }
}

fn push(store: &mut Store, args: &[&[u8]], end: End) -> Result<Reply, Reply> {
    let list = store.make::<List>(args[1])?.value;
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
    let taken: Vec<Vec<u8>> = (0..most.min(list.value.len())).map_while(|_| take(list.value, end)).collect();
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

/// Takes up to `most` elements from a list, as LMPOP does. `None` if there is no list.
///
/// # Errors
/// The reply to give when the key holds another type.
pub(crate) fn pop_many(
    store: &mut Store,
    key: &[u8],
    end: End,
    most: usize,
) -> Result<Option<Vec<Vec<u8>>>, Reply> {
    let taken = pop_quietly(store, key, end, most)?;
    if let Some(taken) = &taken {
        let name: &[u8] = if end == End::Left { b"LPOP" } else { b"RPOP" };
        store.propagate(&[name, key, taken.len().to_string().as_bytes()]);
    }
    Ok(taken)
}

/// Moves an element from an end of a list to an end of another or of the same. The effect is the command that would do
/// it now: LMOVE or RPOPLPUSH. `None` if there is no element to move.
///
/// # Errors
/// The reply to give when a key holds another type.
pub(crate) fn transfer(
    store: &mut Store,
    (from, from_end): (&[u8], End),
    (to, to_end): (&[u8], End),
    effect: &[&[u8]],
) -> Result<Option<Vec<u8>>, Reply> {
    if store.found::<List>(from)?.is_none() {
        return Ok(None);
    }
    store.found::<List>(to)?;
    let Some(source) = store.edit::<List>(from)? else { return Ok(None) };
    let Some(element) = take(source.value, from_end) else { return Ok(None) };
    add(store.make::<List>(to)?.value, to_end, element.clone());
    store.changed(b'l', if to_end == End::Left { "lpush" } else { "rpush" }, to);
    store.changed(b'l', if from_end == End::Left { "lpop" } else { "rpop" }, from);
    store.tidy::<List>(from);
    store.propagate(effect);
    Ok(Some(element))
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

pub(crate) fn lmove(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (from_end, to_end) = (End::parse(args[3])?, End::parse(args[4])?);
    let moved = transfer(store, (args[1], from_end), (args[2], to_end), args)?;
    Ok(moved.map_or(Reply::Nil, Reply::Bulk))
}

pub(crate) fn rpoplpush(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let moved = transfer(store, (args[1], End::Right), (args[2], End::Left), args)?;
    Ok(moved.map_or(Reply::Nil, Reply::Bulk))
}

/// The arguments of LMPOP and ZMPOP, from the number of keys on: keys, an end, and at most how many elements.
pub(crate) struct Many<'a, E> {
    /// The keys to try, in order.
    pub(crate) keys: &'a [&'a [u8]],
    /// Where to take elements.
    pub(crate) end: E,
    /// How many at most.
    pub(crate) most: usize,
}

impl<'a, E> Many<'a, E> {
    /// Reads the arguments.
    ///
    /// # Errors
    /// The reply to give when they are wrong.
    pub(crate) fn parse(
        args: &'a [&'a [u8]],
        end: impl Fn(&[u8]) -> Result<E, Reply>,
    ) -> Result<Many<'a, E>, Reply> {
        let few = "ERR numkeys should be greater than 0";
        let (first, rest) = args.split_first().ok_or(SYNTAX)?;
        let keys = at_least_one(first, few)?;
        let (keys, rest) = rest.split_at_checked(keys).ok_or(SYNTAX)?;
        let (word, rest) = rest.split_first().ok_or(SYNTAX)?;
        let end = end(word)?;
        let (most, rest) = match rest {
            [option, most, rest @ ..] if option.eq_ignore_ascii_case(b"COUNT") => {
                (at_least_one(most, "ERR count should be greater than 0")?, rest)
            }
            _ => (1, rest),
        };
        if !rest.is_empty() {
            return Err(SYNTAX);
        }
        Ok(Many { keys, end, most })
    }
}

/// Takes elements from the first of the lists that is there: its key and the elements.
///
/// # Errors
/// The reply to give when a key before it holds another type.
pub(crate) fn pop_first(store: &mut Store, many: &Many<'_, End>) -> Result<Option<Reply>, Reply> {
    for key in many.keys {
        if let Some(taken) = pop_many(store, key, many.end, many.most)? {
            let taken = Reply::Array(taken.into_iter().map(Reply::Bulk).collect());
            return Ok(Some(Reply::Array(vec![Reply::Bulk(key.to_vec()), taken])));
        }
    }
    Ok(None)
}

pub(crate) fn lmpop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let many = Many::parse(&args[1..], End::parse)?;
    Ok(pop_first(store, &many)?.unwrap_or(Reply::NilArray))
}
