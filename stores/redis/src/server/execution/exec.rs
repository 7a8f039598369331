//! EXEC (Redis 7.0 `multi.c`).

use crate::protocol::resp::{self, Reply};
use crate::server::node::{Answer, Next, Node, SessionId, Transaction};

pub(crate) fn exec(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
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
        let next = node.call_queued(id, &args);
        if next != Next::Continue {
            last = next;
        }
    }
    node.enter(outer);
    node.session_mut(id).executes = None;
    last
}

impl Node {
    /// Begins a list of so many replies, which follow.
    fn begin_array(&mut self, id: SessionId, len: usize) {
        let mut header = Vec::new();
        resp::array_header(&mut header, len);
        self.answer_raw(id, &header);
    }
}
