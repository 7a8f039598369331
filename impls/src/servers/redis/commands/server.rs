//! The node as a member of a replicated store: roles, replication links, waiting for replicas.

use super::{number, unknown_subcommand};
use crate::servers::redis::PORT;
use crate::servers::redis::node::{Answer, Cause, Next, Node, SessionId, acknowledged};
use crate::servers::redis::resp::{self, Reply};

/// CONFIG GET knows no parameters, CONFIG SET takes all; CONFIG REWRITE makes the role survive a restart.
pub(super) fn config(_: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    match () {
        () if is(b"GET") => Ok(Reply::Map(Vec::new()).into()),
        () if is(b"SET") => Ok(Reply::OK.into()),
        () if is(b"REWRITE") => Ok(Answer { reply: Some(Reply::OK), next: Next::RewriteConfig }),
        () => Err(unknown_subcommand("CONFIG", args[1])),
    }
}

/// Whatever section is asked for, the one on replication is the answer.
pub(super) fn info(node: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let mut text = String::from("# Replication\r\n");
    match node.primary() {
        None => text.push_str("role:master\r\n"),
        Some(primary) => {
            let link = if node.linked { "up" } else { "down" };
            text.push_str(&format!(
                "role:slave\r\nmaster_host:{primary}\r\nmaster_port:{PORT}\r\nmaster_link_status:{link}\r\n"
            ));
        }
    }
    text.push_str(&format!("connected_slaves:{}\r\n", node.replicas.len()));
    for (at, replica) in node.replicas.iter().enumerate() {
        let (name, acked) = (&replica.name, replica.acked);
        text.push_str(&format!("slave{at}:ip={name},port={PORT},state=online,offset={acked},lag=0\r\n"));
    }
    text.push_str(&format!("master_repl_offset:{}\r\n", node.offset()));
    Ok(Reply::text(&text).into())
}

pub(super) fn role(node: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let offset = Reply::Integer(i64::try_from(node.offset()).unwrap_or(i64::MAX));
    let reply = match node.primary() {
        None => {
            let replicas = node.replicas.iter().map(|replica| {
                let texts = [replica.name.clone(), PORT.to_string(), replica.acked.to_string()];
                Reply::Array(texts.iter().map(|text| Reply::text(text)).collect())
            });
            vec![Reply::text("master"), offset, Reply::Array(replicas.collect())]
        }
        Some(primary) => {
            let state = if node.linked { "connected" } else { "connect" };
            let port = Reply::Integer(i64::from(PORT));
            vec![Reply::text("slave"), Reply::text(primary), port, Reply::text(state), offset]
        }
    };
    Ok(Reply::Array(reply).into())
}

pub(super) fn replicaof(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if args[1].eq_ignore_ascii_case(b"NO") && args[2].eq_ignore_ascii_case(b"ONE") {
        let next = if node.promote() { Next::RoleChanged } else { Next::Continue };
        return Ok(Answer { reply: Some(Reply::OK), next });
    }
    if resp::integer(args[2]).is_none_or(|port| !(0..=65535).contains(&port)) {
        return Err(Reply::error("ERR Invalid master port"));
    }
    let primary = String::from_utf8_lossy(args[1]).into_owned();
    if node.primary() == Some(primary.as_str()) {
        return Ok(Reply::Status("OK Already connected to specified master".into()).into());
    }
    node.follow(primary);
    Ok(Answer { reply: Some(Reply::OK), next: Next::RoleChanged })
}

/// What a replica says about itself: only its acknowledgements matter here, and they get no answer.
pub(super) fn replconf(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    match args {
        [_, sub, offset, ..] if sub.eq_ignore_ascii_case(b"ACK") => {
            let offset = resp::integer(offset).and_then(|offset| u64::try_from(offset).ok());
            let replica = node.replicas.iter_mut().find(|replica| replica.session == id);
            if let (Some(offset), Some(replica)) = (offset, replica) {
                replica.acked = replica.acked.max(offset);
            }
            node.serve_acknowledged();
            Ok(Answer { reply: None, next: Next::Continue })
        }
        _ => Ok(Reply::OK.into()),
    }
}

/// Every replica gets a full copy: partial resynchronisation is not modelled.
pub(super) fn psync(_: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    Ok(Answer { reply: None, next: Next::Feed })
}

pub(super) fn wait(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.primary().is_some() {
        return Err(Reply::error(
            "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is \
             configured to be writable (which is not the default) writes to replicas are just local and are not \
             propagated.",
        ));
    }
    let replicas = number(args[1])?;
    let deadline = deadline(node, args[2])?;
    let count = usize::try_from(replicas).unwrap_or(0);
    let offset = node.session(id).wrote;
    let acked = node.acknowledged(offset);
    if acked >= count {
        return Ok(acknowledged(acked).into());
    }
    Ok(node.wait_for(id, Cause::Replicas { count, offset }, deadline))
}

/// The last millisecond of a wait of so many milliseconds; none if it is without limit.
fn deadline(node: &Node, timeout: &[u8]) -> Result<Option<i64>, Reply> {
    let span = resp::integer(timeout).ok_or(Reply::error("ERR timeout is not an integer or out of range"))?;
    match span {
        ..0 => Err(Reply::error("ERR timeout is negative")),
        0 => Ok(None),
        _ => {
            let deadline = node.store.now_ms().checked_add(span);
            deadline.map(Some).ok_or(Reply::error("ERR timeout is out of range"))
        }
    }
}
