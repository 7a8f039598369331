//! SLOWLOG (Redis 7.0 `slowlog.c`). A command takes no time here, unless it stalls the node: the log keeps those that
//! did, and all of them while `slowlog-log-slower-than` is 0.

use super::count;
use crate::protocol::resp::{Reply, integer};
use crate::server::node::{Answer, Node, SessionId, Slow};

pub(crate) fn slowlog(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match () {
        () if is(b"LEN") => count(node.slow.entries.len()),
        () if is(b"RESET") => {
            node.slow.entries.clear();
            Reply::OK
        }
        () if is(b"GET") => {
            let most = match args.get(2) {
                None => 10,
                Some(text) => integer(text)
                    .filter(|most| *most >= -1)
                    .ok_or(Reply::error("ERR count should be greater than or equal to -1"))?,
            };
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            Reply::Array(node.slow.entries.iter().take(most).map(shown).collect())
        }
        () => super::help("slowlog", node.store.version),
    };
    Ok(reply.into())
}

fn shown(entry: &Slow) -> Reply {
    Reply::Array(vec![
        Reply::Integer(entry.id),
        Reply::Integer(entry.at),
        Reply::Integer(entry.micros),
        Reply::Array(entry.args.iter().map(|arg| Reply::Bulk(arg.clone())).collect()),
        Reply::text(&entry.peer),
        Reply::Bulk(entry.name.clone()),
    ])
}
