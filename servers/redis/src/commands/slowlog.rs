//! SLOWLOG (Redis 7.0 `slowlog.c`). A command takes no time here, unless it stalls the node: the log keeps those that
//! did, and all of them while `slowlog-log-slower-than` is 0.

use std::collections::VecDeque;

use super::{Command, count, flags};
use crate::node::{Answer, Node, SessionId};
use crate::resp::{Reply, integer};

/// The log, the latest entry first.
#[derive(Debug, Default)]
pub(crate) struct SlowLog {
    entries: VecDeque<Entry>,
    next: i64,
}

#[derive(Debug)]
struct Entry {
    id: i64,
    at: i64,
    micros: i64,
    args: Vec<Vec<u8>>,
    peer: String,
    name: Vec<u8>,
}

/// No entry shows more arguments, nor more bytes of one.
const ARGS_MAX: usize = 32;
const ARG_MAX: usize = 128;

impl Node {
    /// Keeps a command in the slow log if it was slow.
    pub(crate) fn log_slow(&mut self, id: SessionId, command: &Command, args: &[&[u8]], micros: i64) {
        let least = self.config.slow_us;
        if least < 0 || micros < least || command.is(flags::SKIP_SLOWLOG) {
            return;
        }
        let mut shown: Vec<Vec<u8>> = args.iter().take(ARGS_MAX).map(|arg| shorten(arg)).collect();
        if args.len() > ARGS_MAX {
            shown[ARGS_MAX - 1] = format!("... ({} more arguments)", args.len() - ARGS_MAX + 1).into_bytes();
        }
        let session = self.session(id);
        let entry = Entry {
            id: self.slow.next,
            at: self.store.now_ms() / 1000,
            micros,
            args: shown,
            peer: session.peer.clone(),
            name: session.name.clone(),
        };
        self.slow.next += 1;
        self.slow.entries.push_front(entry);
        self.slow.entries.truncate(self.config.slow_len);
    }
}

fn shorten(arg: &[u8]) -> Vec<u8> {
    if arg.len() <= ARG_MAX {
        return arg.to_vec();
    }
    let mut shown = arg[..ARG_MAX].to_vec();
    shown.extend_from_slice(format!("... ({} more bytes)", arg.len() - ARG_MAX).as_bytes());
    shown
}

pub(super) fn slowlog(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
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

fn shown(entry: &Entry) -> Reply {
    Reply::Array(vec![
        Reply::Integer(entry.id),
        Reply::Integer(entry.at),
        Reply::Integer(entry.micros),
        Reply::Array(entry.args.iter().map(|arg| Reply::Bulk(arg.clone())).collect()),
        Reply::text(&entry.peer),
        Reply::Bulk(entry.name.clone()),
    ])
}
