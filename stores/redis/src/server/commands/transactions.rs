//! MULTI, DISCARD, WATCH and UNWATCH (Redis 7.0 `multi.c`). EXEC executes other commands: it is a floor above.

use crate::protocol::resp::Reply;
use crate::server::node::{Answer, Node, SessionId};

pub(crate) fn multi(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let session = node.session_mut(id);
    if session.transaction.is_some() {
        return Err(Reply::error("ERR MULTI calls can not be nested"));
    }
    session.transaction = Some(Box::default());
    Ok(Reply::OK.into())
}

pub(crate) fn discard(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    if node.session(id).transaction.is_none() {
        return Err(Reply::error("ERR DISCARD without MULTI"));
    }
    node.discard(id);
    Ok(Reply::OK.into())
}

pub(crate) fn watch(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.session(id).transaction.is_some() {
        return Err(Reply::error("ERR WATCH inside MULTI is not allowed"));
    }
    if !node.session(id).overtaken {
        for key in &args[1..] {
            node.watch(id, key);
        }
    }
    Ok(Reply::OK.into())
}

pub(crate) fn unwatch(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    node.unwatch(id);
    Ok(Reply::OK.into())
}
