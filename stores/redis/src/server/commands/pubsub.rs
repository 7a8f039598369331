//! Pub/Sub (Redis 7.0 `pubsub.c`). Messages are no data: they are not kept, but replicas get them as well.

use super::count;
use crate::protocol::resp::Reply;
use crate::server::glob;
use crate::server::node::{Answer, ChannelKind, Next, Node, SessionId};

pub(crate) fn subscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    join(node, id, args, ChannelKind::Channel, "subscribe")
}

pub(crate) fn psubscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    join(node, id, args, ChannelKind::Pattern, "psubscribe")
}

pub(crate) fn ssubscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.is_nested() {
        return Err(Reply::error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"));
    }
    join(node, id, args, ChannelKind::Shard, "ssubscribe")
}

pub(crate) fn unsubscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    leave(node, id, args, ChannelKind::Channel, "unsubscribe")
}

pub(crate) fn punsubscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    leave(node, id, args, ChannelKind::Pattern, "punsubscribe")
}

pub(crate) fn sunsubscribe(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    leave(node, id, args, ChannelKind::Shard, "sunsubscribe")
}

const DONE: Answer = Answer::silent(Next::Continue);

fn join(
    node: &mut Node,
    id: SessionId,
    args: &[&[u8]],
    kind: ChannelKind,
    word: &'static str,
) -> Result<Answer, Reply> {
    for name in &args[1..] {
        node.listen(id, kind, name);
        confirm(node, id, kind, word, Reply::Bulk(name.to_vec()));
    }
    Ok(DONE)
}

fn leave(
    node: &mut Node,
    id: SessionId,
    args: &[&[u8]],
    kind: ChannelKind,
    word: &'static str,
) -> Result<Answer, Reply> {
    let names = if args.len() > 1 {
        args[1..].iter().map(|name| name.to_vec()).collect()
    } else {
        node.heard(id, kind)
    };
    if names.is_empty() {
        confirm(node, id, kind, word, Reply::Nil);
    }
    for name in names {
        node.unlisten(id, kind, &name);
        confirm(node, id, kind, word, Reply::Bulk(name));
    }
    Ok(DONE)
}

/// Says what a session listens to now: to how many channels and patterns, or to how many sharded channels.
fn confirm(node: &mut Node, id: SessionId, kind: ChannelKind, word: &str, name: Reply) {
    let heard = node.session(id).heard.as_deref();
    let left =
        heard.map_or(0, |heard| if kind == ChannelKind::Shard { heard.shards.len() } else { heard.len() });
    let push = Reply::Push(vec![Reply::text(word), name, count(left)]);
    let mut bytes = Vec::new();
    push.encode(node.session(id).protocol, &mut bytes);
    node.send(id, &bytes);
}

pub(crate) fn publish(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let heard = node.spread(args[1], args[2], false);
    pass_on(node, args, false);
    Ok(count(heard).into())
}

pub(crate) fn spublish(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let heard = node.spread(args[1], args[2], true);
    pass_on(node, args, true);
    Ok(count(heard).into())
}

/// In a cluster a message goes over the bus, else to the replicas.
fn pass_on(node: &mut Node, args: &[&[u8]], sharded: bool) {
    match node.cluster.as_deref_mut() {
        Some(cluster) => cluster.spread(sharded, args[1], args[2]),
        None => node.store.propagate(args),
    }
}

pub(crate) fn pubsub(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let names = |kind| {
        let matching = |name: &&Vec<u8>| args.get(2).is_none_or(|pattern| glob::fits(pattern, name));
        let listened = node.channels.of(kind).keys().filter(matching);
        Reply::Array(listened.map(|name| Reply::Bulk(name.clone())).collect())
    };
    let counts = |kind| {
        let of = |name: &&[u8]| node.channels.of(kind).get(*name).map_or(0, Vec::len);
        Reply::Map(args[2..].iter().map(|name| (Reply::Bulk(name.to_vec()), count(of(name)))).collect())
    };
    let reply = match () {
        () if is(b"CHANNELS") && args.len() <= 3 => names(ChannelKind::Channel),
        () if is(b"SHARDCHANNELS") && args.len() <= 3 => names(ChannelKind::Shard),
        () if is(b"NUMSUB") => counts(ChannelKind::Channel).flattened(),
        () if is(b"SHARDNUMSUB") => counts(ChannelKind::Shard).flattened(),
        () if is(b"NUMPAT") => count(node.channels.of(ChannelKind::Pattern).len()),
        () if is(b"HELP") => super::help("pubsub", node.store.version),
        () => return Err(super::subcommand_syntax("PUBSUB", args[1])),
    };
    Ok(reply.into())
}
