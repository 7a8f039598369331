//! A node whose connections serve another kind of server: a Sentinel has the sessions and subscriptions of a node, and
//! commands of its own.

use picklock_model::time::WallTime;

use crate::protocol::resp::Reply;
use crate::server::commands::{connection, info, unknown, wrong_arity};
use crate::server::node::{Node, SessionId, only_listens};

impl Node {
    /// Answers a command that is executed elsewhere, unless the session may send nothing but what is about its
    /// subscriptions.
    pub(crate) fn answer_for(
        &mut self,
        id: SessionId,
        name: &str,
        out: &mut Vec<u8>,
        execute: impl FnOnce() -> Reply,
    ) {
        let session = self.session(id);
        let protocol = session.protocol;
        let reply = if session.only_listens() { only_listens(name) } else { execute() };
        self.stats.commands += 1;
        reply.encode(protocol, out);
    }

    /// Answers HELLO.
    pub(crate) fn hello_as_sentinel(&mut self, id: SessionId, args: &[&[u8]], out: &mut Vec<u8>) {
        let hello = if self.session(id).only_listens() {
            Err(only_listens("hello"))
        } else {
            connection::hello(self.session_mut(id), args)
        };
        let protocol = self.session(id).protocol;
        hello.unwrap_or_else(|error| error).encode(protocol, out);
    }

    /// Refuses a command that does not exist, or one of those known that was given too few or too many arguments.
    pub(crate) fn refuse_for(&mut self, id: SessionId, args: &[&[u8]], known: &[&str], out: &mut Vec<u8>) {
        let name = known.iter().find(|name| args[0].eq_ignore_ascii_case(name.as_bytes()));
        let reply = name.map_or_else(|| unknown(args), |name| wrong_arity(name));
        self.stats.refused += 1;
        reply.encode(self.session(id).protocol, out);
    }

    /// The text of INFO for these arguments.
    pub(crate) fn info_for(&mut self, now: WallTime, args: &[&[u8]]) -> String {
        self.store.now = now;
        match info::text(self, args) {
            Reply::Verbatim(_, text) | Reply::Bulk(text) => String::from_utf8_lossy(&text).into_owned(),
            _ => String::new(),
        }
    }

    /// Sends a message to those who listen to a channel.
    pub(crate) fn publish(&mut self, channel: &[u8], message: &[u8]) {
        self.spread(channel, message, false);
    }
}
