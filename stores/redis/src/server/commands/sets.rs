//! Sets (Redis 7.0 `t_set.c`).

use super::count;
use crate::protocol::resp::Reply;
use crate::server::store::{Members, Store};

pub(crate) fn sadd(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let set = store.make::<Members>(args[1])?;
    let added = args[2..].iter().filter(|member| set.insert(member.to_vec())).count();
    if added > 0 {
        store.changed(b's', "sadd", args[1]);
        store.propagate(args);
    }
    Ok(count(added))
}

pub(crate) fn srem(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(set) = store.edit::<Members>(args[1])? else { return Ok(Reply::Integer(0)) };
    let removed = args[2..].iter().filter(|member| set.remove(**member)).count();
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

pub(crate) fn smembers(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let members = store.read::<Members>(args[1])?.into_iter().flatten();
    Ok(Reply::Set(members.cloned().map(Reply::Bulk).collect()))
}
