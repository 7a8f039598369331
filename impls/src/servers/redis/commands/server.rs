//! The node as a member of a replicated store: roles, replication links, waiting for replicas.

use super::number;
use crate::servers::redis::PORT;
use crate::servers::redis::node::{Answer, Cause, Next, Node, SessionId, acknowledged, synced};
use crate::servers::redis::resp::{self, Reply};

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
    if acked >= count || node.is_nested() {
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

/// The local append-only file, where there is one, is synced before each reply; replicas do not say when theirs is.
pub(super) fn waitaof(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.primary().is_some() {
        return Err(Reply::error(
            "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local \
             and are not propagated.",
        ));
    }
    let local = number(args[1])?;
    if !(0..=1).contains(&local) {
        return Err(Reply::error("ERR value is out of range, must be between 0 and 1"));
    }
    let wanted = number(args[2])?;
    let wanted =
        usize::try_from(wanted).map_err(|_| Reply::error("ERR value is out of range, must be positive"))?;
    let deadline = deadline(node, args[3])?;
    let logs = node.parameter_named("appendonly") == "yes";
    if local == 1 && !logs {
        return Err(Reply::error(
            "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        ));
    }
    if wanted == 0 || node.is_nested() {
        return Ok(synced(logs).into());
    }
    Ok(node.wait_for(id, Cause::Disk { logs }, deadline))
}
