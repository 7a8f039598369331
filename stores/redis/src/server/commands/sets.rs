//! Sets (Redis 7.0 `t_set.c`).

use super::numbers::{Sample, at_least_one, positive};
use super::{SYNTAX, count};
use crate::protocol::resp::{self, Reply};
use crate::server::store::{Members, Store, Value};

pub(crate) fn sadd(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let mut set = store.make::<Members>(args[1])?;
    let added = args[2..].iter().filter(|member| set.add(member)).count();
    if added > 0 {
        store.changed(b's', "sadd", args[1]);
        store.propagate(args);
    }
    Ok(count(added))
}

pub(crate) fn srem(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(set) = store.edit::<Members>(args[1])? else { return Ok(Reply::Integer(0)) };
    let removed = args[2..].iter().filter(|member| set.value.remove(**member)).count();
    if removed > 0 {
        store.changed(b's', "srem", args[1]);
        store.tidy::<Members>(args[1]);
        store.propagate(args);
    }
    Ok(count(removed))
}

pub(crate) fn scard(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(count(store.read::<Members>(args[1])?.map_or(0, Members::len)))
}

pub(crate) fn sismember(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is = store.read::<Members>(args[1])?.is_some_and(|set| set.contains(args[2]));
    Ok(Reply::Integer(i64::from(is)))
}

pub(crate) fn smismember(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.read::<Members>(args[1])?;
    let is = |member: &&[u8]| set.is_some_and(|set| set.contains(*member));
    Ok(Reply::Array(args[2..].iter().map(|member| Reply::Integer(i64::from(is(member)))).collect()))
}

fn set_reply(members: impl IntoIterator<Item = Vec<u8>>) -> Reply {
    Reply::Set(members.into_iter().map(Reply::Bulk).collect())
}

pub(crate) fn smembers(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(set_reply(store.read::<Members>(args[1])?.into_iter().flatten().cloned()))
}

pub(crate) fn smove(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (from, to, member) = (args[1], args[2], args[3]);
    let Some(source) = store.found::<Members>(from)? else { return Ok(Reply::Integer(0)) };
    let there = source.contains(member);
    store.found::<Members>(to)?;
    if from == to || !there {
        return Ok(Reply::Integer(i64::from(there)));
    }
    if let Some(source) = store.edit::<Members>(from)? {
        source.value.remove(member);
    }
    store.changed(b's', "srem", from);
    store.tidy::<Members>(from);
    let added = store.make::<Members>(to)?.add(member);
    if added {
        store.changed(b's', "sadd", to);
    }
    store.propagate(args);
    Ok(Reply::Integer(1))
}

pub(crate) fn spop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let asked = match args.get(2) {
        _ if args.len() > 3 => return Err(SYNTAX),
        None => None,
        Some(asked) => Some(positive(asked)?),
    };
    let nothing = || if asked.is_some() { Reply::Set(Vec::new()) } else { Reply::Nil };
    let len = store.found::<Members>(key)?.map_or(0, Members::len);
    let most = asked.unwrap_or(1);
    if len == 0 || most == 0 {
        return Ok(nothing());
    }
    let places = Sample::Different(most).draw(store, len);
    let Some(set) = store.edit::<Members>(key)? else { return Ok(nothing()) };
    let all: Vec<Vec<u8>> = std::mem::take(set.value).into_iter().collect();
    let mut popped = Vec::with_capacity(places.len());
    for (at, member) in all.into_iter().enumerate() {
        if places.binary_search(&at).is_ok() {
            popped.push(member);
        } else {
            set.value.insert(member);
        }
    }
    store.changed(b's', "spop", key);
    let emptied = store.tidy::<Members>(key);
    if asked.is_some() && emptied {
        store.propagate(&[b"DEL", key]);
    } else {
        for member in &popped {
            store.propagate(&[b"SREM", key, member]);
        }
    }
    if asked.is_some() {
        return Ok(set_reply(popped));
    }
    Ok(popped.pop().map_or(Reply::Nil, Reply::Bulk))
}

pub(crate) fn srandmember(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let asked = match args.get(2) {
        _ if args.len() > 3 => return Err(SYNTAX),
        None => None,
        Some(asked) => Some(Sample::parse(asked, false)?),
    };
    let members: Vec<Vec<u8>> = store.read::<Members>(args[1])?.into_iter().flatten().cloned().collect();
    let Some(asked) = asked else {
        let at = store.random_below(members.len());
        return Ok(members.get(at).cloned().map_or(Reply::Nil, Reply::Bulk));
    };
    let places = asked.draw(store, members.len());
    Ok(Reply::Array(places.into_iter().map(|at| Reply::Bulk(members[at].clone())).collect()))
}

/// How several sets become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

fn combine(store: &mut Store, keys: &[&[u8]], operation: Operation) -> Result<Members, Reply> {
    let mut sets = Vec::with_capacity(keys.len());
    for key in keys {
        sets.push(store.read::<Members>(key)?.cloned().unwrap_or_default());
    }
    let mut sets = sets.into_iter();
    let mut result = sets.next().unwrap_or_default();
    for set in sets {
        match operation {
            Operation::Union => result.extend(set),
            Operation::Intersection => result.retain(|member| set.contains(member)),
            Operation::Difference => result.retain(|member| !set.contains(member)),
        }
    }
    Ok(result)
}

pub(crate) fn sunion(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    combine(store, &args[1..], Operation::Union).map(set_reply)
}

pub(crate) fn sinter(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    combine(store, &args[1..], Operation::Intersection).map(set_reply)
}

pub(crate) fn sdiff(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    combine(store, &args[1..], Operation::Difference).map(set_reply)
}

pub(crate) fn sunionstore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    keep(store, args, Operation::Union, "sunionstore")
}

pub(crate) fn sinterstore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    keep(store, args, Operation::Intersection, "sinterstore")
}

pub(crate) fn sdiffstore(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    keep(store, args, Operation::Difference, "sdiffstore")
}

fn keep(
    store: &mut Store,
    args: &[&[u8]],
    operation: Operation,
    event: &'static str,
) -> Result<Reply, Reply> {
    let target = args[1];
    let members = combine(store, &args[2..], operation)?;
    if members.is_empty() {
        if super::keys::delete(store, target) {
            store.propagate(args);
        }
        return Ok(Reply::Integer(0));
    }
    let len = members.len();
    store.find(target);
    store.create(target, Value::Set(members), None, false);
    store.changed(b's', event, target);
    store.propagate(args);
    Ok(count(len))
}

pub(crate) fn sintercard(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let keys = at_least_one(args[1], "ERR numkeys should be greater than 0")?;
    let split = args[2..].split_at_checked(keys);
    let (keys, rest) =
        split.ok_or(Reply::error("ERR Number of keys can't be greater than number of args"))?;
    let mut limit = 0;
    for option in rest.chunks(2) {
        let [name, value] = option else { return Err(SYNTAX) };
        if !name.eq_ignore_ascii_case(b"LIMIT") {
            return Err(SYNTAX);
        }
        let number = resp::integer(value).and_then(|number| usize::try_from(number).ok());
        limit = number.ok_or(Reply::error("ERR LIMIT can't be negative"))?;
    }
    let len = combine(store, keys, Operation::Intersection)?.len();
    Ok(count(if limit == 0 { len } else { len.min(limit) }))
}
