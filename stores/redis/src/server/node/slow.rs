//! The slow log. A command takes no time here, unless it stalls the node.

use std::collections::VecDeque;

use super::session::Session;

/// The log, the latest entry first.
#[derive(Debug, Default)]
pub(crate) struct SlowLog {
    pub(crate) entries: VecDeque<Slow>,
    next: i64,
}

/// A command that took long.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) id: i64,
    pub(crate) at: i64,
    pub(crate) micros: i64,
    pub(crate) args: Vec<Vec<u8>>,
    pub(crate) peer: String,
    pub(crate) name: Vec<u8>,
}

/// No entry shows more arguments, nor more bytes of one.
const ARGS_MAX: usize = 32;
const ARG_MAX: usize = 128;

impl SlowLog {
    /// Keeps a command of a session that took so many microseconds, and the last `most` of those before.
    pub(crate) fn keep(&mut self, session: &Session, at: i64, micros: i64, args: &[&[u8]], most: usize) {
        let mut shown: Vec<Vec<u8>> = args.iter().take(ARGS_MAX).map(|arg| shorten(arg)).collect();
        if args.len() > ARGS_MAX {
            shown[ARGS_MAX - 1] = format!("... ({} more arguments)", args.len() - ARGS_MAX + 1).into_bytes();
        }
        let (peer, name) = (session.peer.clone(), session.name.clone());
        self.entries.push_front(Slow { id: self.next, at, micros, args: shown, peer, name });
        self.next += 1;
        self.entries.truncate(most);
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
