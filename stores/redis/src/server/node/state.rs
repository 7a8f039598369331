//! The state of a node.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::caching::Tracking;
use super::channels::Channels;
use super::config::{Config, OutputLimit};
use super::delivery::Delivery;
use super::ids::SessionId;
use super::migration::Migration;
use super::outcome::Next;
use super::queues::Queues;
use super::replication::{Replication, Upstream};
use super::scripts::{Script, Sha};
use super::session::Session;
use super::slot_task::SlotTasks;
use super::stats::Stats;
use crate::protocol::resp::{Limits, Reply};
use crate::server::cluster::{Act, Cluster};
use crate::server::store::Store;

/// The state of a node. It moves when a script begins and when it ends, so what is large and seldom used is boxed.
#[derive(Debug, Default)]
pub struct Node {
    /// The dataset.
    pub(crate) store: Store,
    /// The scripts that it was given.
    pub(crate) scripts: BTreeMap<Sha, Arc<Script>>,
    /// Its place among the nodes of a replicated store.
    pub(crate) replication: Box<Replication>,
    /// The connections that there are.
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    /// The number of the last connection.
    pub(crate) last_session: u64,
    /// The session whose command is executed.
    pub(crate) current: Option<SessionId>,
    /// How many bytes that session has sent that are not executed, with the command at hand.
    pub(crate) query: usize,
    /// The bytes for that session.
    pub(crate) out: Vec<u8>,
    /// The messages to other sessions.
    pub(crate) deliveries: Vec<Delivery>,
    /// The sessions that wait.
    pub(super) queues: Box<Queues>,
    /// The sessions that watch a key of a database.
    pub(super) watched_keys: BTreeMap<(usize, Vec<u8>), Vec<SessionId>>,
    /// The listeners of channels.
    pub(crate) channels: Box<Channels>,
    /// What clients have read and want to be notified of.
    pub(crate) tracking: Box<Tracking>,
    /// The sessions that are shown all commands.
    pub(crate) monitors: Vec<SessionId>,
    /// CLIENT PAUSE.
    pub(crate) pause: Option<Pause>,
    /// The script that takes too long.
    pub(crate) busy: Option<Busy>,
    /// The number of scripts that took too long so far.
    pub(crate) endless: u32,
    /// True while the dataset is loaded.
    pub(crate) loading: bool,
    /// How a command is executed that was kept during a pause.
    pub(super) executes_kept: Option<Executor>,
    /// True inside a transaction or a script: nobody waits there.
    nested: bool,
    /// DEBUG SET-ACTIVE-EXPIRE 0.
    pub(crate) expires_lazily: bool,
    /// True if there was too little memory when the command at hand began.
    pub(crate) short_of_memory: bool,
    /// How many of the next commands that write are refused, whatever memory there is.
    pub(crate) refusals: u64,
    /// DEBUG SET-DISABLE-DENY-SCRIPTS 1.
    pub(crate) scripts_inspect: bool,
    /// Its part in a cluster, if it belongs to one.
    pub(crate) cluster: Option<Box<Cluster>>,
    /// What it wants done on the bus of the cluster.
    pub(crate) bus: Vec<Act>,
    /// The keys that are to be sent to another node.
    pub(crate) migration: Option<Box<Migration>>,
    /// The slots that move from it or to it with all their keys.
    pub(crate) slot_tasks: Box<SlotTasks>,
    pub(crate) config: Box<Config>,
    pub(crate) stats: Box<Stats>,
}

/// A time in which commands are kept instead of executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The first millisecond of the wall clock after it.
    pub(crate) until_ms: i64,
    /// True if all commands are kept, not only those that write.
    pub(crate) all: bool,
}

/// A script that takes too long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Busy {
    /// Whose it is.
    pub(crate) session: SessionId,
    /// When it began, in milliseconds of the node's wall clock.
    pub(crate) since_ms: i64,
    /// True if it has effects: then it cannot be killed.
    pub(crate) wrote: bool,
    /// The reply to its client when it is killed.
    pub(crate) killed: Reply,
}

impl Busy {
    /// The answer to all commands but a few.
    pub(crate) fn refusal(&self) -> Reply {
        Reply::error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
    }
}

/// The function that executes a command of a session: handed in, since the commands stand upon the node.
pub(crate) type Executor = fn(&mut Node, SessionId, &[&[u8]]) -> Next;

impl Node {
    /// A node with this dataset: a primary, or a replica of the host named, on its usual port unless another follows
    /// behind a space.
    #[must_use]
    pub fn new(store: Store, primary: Option<String>) -> Node {
        let mut node = Node { store, ..Node::default() };
        node.replication.upstream = primary.as_deref().map(Upstream::parse);
        node
    }

    /// True if it takes no more connections.
    pub(crate) fn is_full(&self) -> bool {
        self.sessions.len() >= self.config.clients_max
    }

    /// Counts a connection that is one too many.
    pub(crate) fn turn_away(&mut self) {
        self.stats.rejected += 1;
    }

    /// True if a connection from there is not to be served: it comes from another machine, and there is no password. Hosts of
    /// the simulated world have names instead of addresses, and are let in.
    pub(crate) fn is_closed_to(&self, peer: &str) -> bool {
        self.config.protected
            && self.config.password.is_empty()
            && peer.parse().is_ok_and(|peer: SocketAddr| !peer.ip().is_loopback())
    }

    /// How much a connection may leave unread.
    pub(crate) fn output_limit(&self, id: SessionId) -> OutputLimit {
        let Some(session) = self.sessions.get(&id) else { return OutputLimit::default() };
        let [normal, replica, listener] = self.config.output;
        if let Some(fed) = self.replication.replicas.iter().find(|replica| replica.session == id) {
            // The copy does not count, and what may come back from the backlog is not too much.
            let least = |most: u64, least: u64| if most == 0 { 0 } else { most.max(least) + fed.copied };
            let backlog = self.replication.history.backlog_size() as u64;
            return OutputLimit {
                hard: least(replica.hard, backlog),
                soft: least(replica.soft, 0),
                ..replica
            };
        }
        let listens = session.heard.as_ref().is_some_and(|heard| heard.total() > 0);
        if listens { listener } else { normal }
    }

    /// The state of a connection that there is.
    pub(crate) fn session(&self, id: SessionId) -> &Session {
        self.sessions.get(&id).expect("a session is used only while it is connected")
    }

    pub(crate) fn session_mut(&mut self, id: SessionId) -> &mut Session {
        self.sessions.get_mut(&id).expect("a session is used only while it is connected")
    }

    /// The connections that there are, in the order of coming.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The limits of a connection now.
    pub(crate) fn limits(&self, id: SessionId) -> Limits {
        let trusted = self.config.password.is_empty() || self.session(id).authenticated;
        Limits { bulk_max: self.config.bulk_max, waiting_max: self.config.query_max, trusted }
    }

    /// Goes into or out of a transaction or a script; where it was before.
    pub(crate) fn enter(&mut self, nested: bool) -> bool {
        std::mem::replace(&mut self.nested, nested)
    }

    /// True inside a transaction or a script: nobody waits there.
    pub(crate) fn is_nested(&self) -> bool {
        self.nested
    }
}
