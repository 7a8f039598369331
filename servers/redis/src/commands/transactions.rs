//! MULTI, EXEC, DISCARD, WATCH and UNWATCH (Redis 7.0 `multi.c`).

use super::Command;
use crate::node::{Answer, Next, Node, SessionId, Transaction};
use crate::resp::{self, Reply};

pub(super) fn multi(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let session = node.session_mut(id);
    if session.transaction.is_some() {
        return Err(Reply::error("ERR MULTI calls can not be nested"));
    }
    session.transaction = Some(Box::default());
    Ok(Reply::OK.into())
}

pub(super) fn discard(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    if node.session(id).transaction.is_none() {
        return Err(Reply::error("ERR DISCARD without MULTI"));
    }
    node.discard(id);
    Ok(Reply::OK.into())
}

pub(super) fn watch(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
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

pub(super) fn unwatch(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    node.unwatch(id);
    Ok(Reply::OK.into())
}

pub(super) fn exec(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    if node.session(id).transaction.is_none() {
        return Err(Reply::error("ERR EXEC without MULTI"));
    }
    let overtaken = node.is_overtaken(id);
    let transaction = node.discard(id).unwrap_or_default();
    if transaction.refused {
        return Err(Reply::error("EXECABORT Transaction discarded because of previous errors."));
    }
    if overtaken {
        return Ok(Reply::NilArray.into());
    }
    Ok(Answer::silent(run(node, id, &transaction)))
}

/// Executes what was queued; the replies follow each other.
fn run(node: &mut Node, id: SessionId, transaction: &Transaction) -> Next {
    node.begin_array(id, transaction.commands.len());
    let mut last = Next::Continue;
    let outer = node.enter(true);
    node.session_mut(id).executes = Some(transaction.commands.len());
    for kept in &transaction.commands {
        let args: Vec<&[u8]> = kept.iter().map(Vec::as_slice).collect();
        let next = match Command::resolve(&kept[0], &args, node.store.version) {
            Ok(command) => node.call(id, &command, &args),
            Err(reply) => {
                node.reply(id, &reply);
                Next::Continue
            }
        };
        if next != Next::Continue {
            last = next;
        }
    }
    node.enter(outer);
    node.session_mut(id).executes = None;
    last
}

impl Node {
    /// Forgets what a session has queued and what it watches.
    pub(crate) fn discard(&mut self, id: SessionId) -> Option<Box<Transaction>> {
        self.unwatch(id);
        self.session_mut(id).transaction.take()
    }

    /// Begins a list of so many replies, which follow.
    fn begin_array(&mut self, id: SessionId, len: usize) {
        let mut header = Vec::new();
        resp::array_header(&mut header, len);
        self.answer_raw(id, &header);
    }
}
