//! The connections of a member's clients: where answers and events go, in the order in which they come about.

use std::collections::BTreeMap;

use picklock_sim::host::Origin;
use tokio::sync::{mpsc, oneshot};

use super::tree::Change;
use super::watches::Watches;
use crate::jute::{Record, packet};
use crate::messages::{ReplyHeader, WatchEvent, error, event, xid};
use crate::version::Version;

/// The transaction of an event that names none.
pub(crate) const NO_ZXID: i64 = -1;

/// What goes out on a connection.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A packet, in the service of a message.
    Packet(Origin, Vec<u8>),
    /// Nothing more: the connection is closed.
    Close,
}

#[derive(Debug)]
struct Connection {
    session: i64,
    out: mpsc::UnboundedSender<Outgoing>,
}

/// A request whose answer comes with an entry of the log.
#[derive(Debug)]
struct Waiting {
    /// The connection to which the answer goes; none for what is no request of a client.
    to: Option<(u64, i32)>,
    done: oneshot::Sender<()>,
}

/// All connections of a member, with what they wait for and what they watch.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: BTreeMap<u64, Connection>,
    last: u64,
    waiting: BTreeMap<i64, Waiting>,
    last_request: i64,
    pub(crate) watches: Watches,
}

impl Connections {
    /// Requests are numbered from here on: another life of the same member must not take an old answer for its own.
    pub(crate) fn new(last_request: i64, version: Version) -> Connections {
        Connections { last_request, watches: Watches::new(version), ..Connections::default() }
    }

    pub(crate) fn add(&mut self, session: i64, out: mpsc::UnboundedSender<Outgoing>) -> u64 {
        self.last += 1;
        self.all.insert(self.last, Connection { session, out });
        self.last
    }

    pub(crate) fn remove(&mut self, connection: u64) {
        self.all.remove(&connection);
        self.watches.forget(connection);
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Closes the connections of a session.
    pub(crate) fn close_session(&mut self, session: i64) {
        self.close_if(|of| of == session);
    }

    /// Closes all, and nobody waits any more.
    pub(crate) fn close_all(&mut self) {
        self.close_if(|_| true);
        self.waiting.clear();
    }

    fn close_if(&mut self, is_meant: impl Fn(i64) -> bool) {
        let meant: Vec<u64> =
            self.all.iter().filter(|(_, one)| is_meant(one.session)).map(|(number, _)| *number).collect();
        for number in meant {
            self.send(number, Outgoing::Close);
            self.remove(number);
        }
    }

    pub(crate) fn send(&self, connection: u64, outgoing: Outgoing) {
        if let Some(connection) = self.all.get(&connection) {
            // Who was connected may be gone.
            let _ = connection.out.send(outgoing);
        }
    }

    /// A number for a request, and where its end is reported. The answer goes to a connection, with a number of the client's.
    pub(crate) fn expect(&mut self, to: Option<(u64, i32)>) -> (i64, oneshot::Receiver<()>) {
        let (done, outcome) = oneshot::channel();
        self.last_request += 1;
        self.waiting.insert(self.last_request, Waiting { to, done });
        (self.last_request, outcome)
    }

    /// Answers a request, if it is one of this member's.
    pub(crate) fn answer(&mut self, request: i64, origin: Origin, zxid: i64, answer: Result<Vec<u8>, i32>) {
        let Some(Waiting { to, done }) = self.waiting.remove(&request) else { return };
        if let Some((connection, xid)) = to {
            match answer {
                // The client speaks through another member, and this connection is one that it has left.
                Err(error::SESSION_MOVED) => self.send(connection, Outgoing::Close),
                answer => self.send(connection, reply(origin, xid, zxid, answer)),
            }
        }
        // Who waited may be gone.
        let _ = done.send(());
    }

    /// Has those who watch hear of changes.
    pub(crate) fn notify(&mut self, (origin, zxid): (Origin, i64), changes: &[Change]) {
        for change in changes {
            let hear = self.watches.hear_of(change);
            for connection in hear.into_iter().filter(|_| change.is_readable) {
                self.send(connection, event((origin, zxid), change.kind, &change.path));
            }
        }
    }
}

/// An answer: with the record that belongs to it, or with an error.
pub(crate) fn reply(origin: Origin, xid: i32, zxid: i64, answer: Result<Vec<u8>, i32>) -> Outgoing {
    let (error, record) = match answer {
        Ok(record) => (error::OK, record),
        Err(error) => (error, Vec::new()),
    };
    Outgoing::Packet(origin, packet(&ReplyHeader { xid, zxid, error }, &Written(record)))
}

/// Something happened that was watched.
pub(crate) fn event((origin, zxid): (Origin, i64), kind: i32, path: &str) -> Outgoing {
    let header = ReplyHeader { xid: xid::EVENT, zxid, error: error::OK };
    let event = WatchEvent { kind, state: event::SYNC_CONNECTED, path: path.to_owned() };
    Outgoing::Packet(origin, packet(&header, &event))
}

/// A record that is written already.
pub(crate) struct Written(pub(crate) Vec<u8>);

impl Record for Written {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn take(from: &mut &[u8]) -> Result<Written, crate::jute::Malformed> {
        Ok(Written(std::mem::take(from).to_vec()))
    }
}
