//! A node: it executes commands and touches nothing else, neither clock nor socket nor disk.
//!
//! It knows all its sessions, since a command of one may concern others: those are told by deliveries, which the server
//! takes and sends. The reply to the session itself is appended to what the server hands in.

mod channels;
mod config;
mod delivery;
mod execute;
mod lent;
mod script;
mod session;
mod stats;
mod waiting;
mod watch;

pub(super) use channels::{Channels, Kind as ChannelKind};
pub(super) use config::Config;
pub use delivery::{Delivery, Then};
pub(super) use script::Running;
pub(super) use session::{Answers, Transaction};
pub use session::{Session, SessionId};
pub(super) use stats::Stats;
pub(super) use waiting::{Cause, acknowledged, synced};

use std::collections::BTreeMap;
use std::sync::Arc;

use picklock_sim::time::WallTime;

use super::commands::{SlowLog, used_memory};
use super::lua::{Script, Sha};
use super::replication::{Replication, Upstream};
use super::resp::{Limits, Reply};
use super::store::{Access, Effects, Policy, Store};
use waiting::Queues;

/// The state of a node.
#[derive(Debug, Default)]
pub struct Node {
    /// The dataset.
    pub(super) store: Store,
    /// The scripts that it was given.
    pub(super) scripts: BTreeMap<Sha, Arc<Script>>,
    /// Its place among the nodes of a replicated store.
    pub(super) replication: Replication,
    /// The connections that there are.
    sessions: BTreeMap<SessionId, Session>,
    /// The number of the last connection.
    last_session: u64,
    /// The session whose command is executed.
    current: Option<SessionId>,
    /// What goes to that session.
    out: Vec<u8>,
    /// What goes to other sessions.
    pub(super) deliveries: Vec<Delivery>,
    /// Who waits for what.
    queues: Queues,
    /// Who watches which key of a database.
    watchers: BTreeMap<(usize, Vec<u8>), Vec<SessionId>>,
    /// Who listens to what.
    pub(super) channels: Channels,
    /// Who is shown all commands.
    pub(super) monitors: Vec<SessionId>,
    /// CLIENT PAUSE.
    pub(super) pause: Option<Pause>,
    /// The script that takes too long.
    pub(super) busy: Option<Busy>,
    /// True while the dataset is loaded.
    pub(super) loading: bool,
    /// True inside a transaction or a script: nobody waits there.
    nested: bool,
    /// DEBUG SET-ACTIVE-EXPIRE 0.
    pub(super) expires_lazily: bool,
    /// True if there was too little memory when the command at hand began.
    pub(super) short_of_memory: bool,
    /// DEBUG SET-DISABLE-DENY-SCRIPTS 1.
    pub(super) scripts_inspect: bool,
    pub(super) config: Config,
    pub(super) stats: Stats,
    pub(super) slow: SlowLog,
}

/// True for a command that may find any number of dead keys: their deletions belong to no transaction.
fn comes_upon_keys(args: &[&[u8]]) -> bool {
    let is = |word: &[u8]| args.first().is_some_and(|name| name.eq_ignore_ascii_case(word));
    is(b"SCAN") || is(b"RANDOMKEY")
}

/// A time in which commands are kept instead of executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// The first millisecond of the wall clock after it.
    pub(super) until_ms: i64,
    /// True if all commands are kept, not only those that write.
    pub(super) all: bool,
}

/// A script that takes too long.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Busy {
    /// Whose it is.
    pub(super) session: SessionId,
    /// True if it has effects: then it cannot be killed.
    pub(super) wrote: bool,
    /// What its client is told when it is killed.
    pub(super) killed: Reply,
}

/// What becomes of a command.
enum Admission {
    Execute,
    /// It belongs to a transaction.
    Queue,
    /// There is a pause.
    Postpone,
}

/// What executing one command came to, besides the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// What happened to the dataset.
    pub effects: Effects,
    /// What the server has to do now.
    pub next: Next,
}

/// What a server has to do after a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Nothing special.
    #[default]
    Continue,
    /// Close the connection after the reply.
    Close,
    /// Execute nothing more for the connection until a delivery resumes it.
    Blocked,
    /// Feed the replica that has come.
    Feed,
    /// Write the role to disk.
    RewriteConfig,
    /// Write the dataset to disk.
    Save(Save),
    /// Do nothing at all for so many milliseconds, then reply.
    Stall(u64),
    /// Do nothing at all for so many milliseconds; the connection waits for longer.
    Runaway(u64),
    /// Stop.
    Shutdown,
}

/// In which form a dataset is written to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Save {
    /// As a snapshot.
    Snapshot,
    /// As a snapshot, while the node goes on.
    Background,
    /// As a new append-only file, while the node goes on.
    Rewrite,
}

/// What a command about the server answers with.
pub(super) struct Answer {
    /// The reply, if there is one now.
    pub(super) reply: Option<Reply>,
    /// What the server has to do.
    pub(super) next: Next,
    /// True if the reply is an error that was counted where it arose.
    pub(super) counted: bool,
}

impl Answer {
    /// No reply, or none yet, and something that the server has to do.
    pub(super) const fn silent(next: Next) -> Answer {
        Answer { reply: None, next, counted: false }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply: Some(reply), next: Next::Continue, counted: false }
    }
}

impl Node {
    /// A node with this dataset: a primary, or a replica of the host named, on its usual port unless another follows
    /// behind a space.
    #[must_use]
    pub fn new(store: Store, primary: Option<String>) -> Node {
        let mut node = Node { store, ..Node::default() };
        node.replication.upstream = primary.as_deref().map(Upstream::parse);
        node
    }

    /// A new connection from this host.
    pub fn connect(&mut self, peer: &str) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let now = self.store.now_ms();
        let session = Session {
            id,
            peer: peer.to_owned(),
            authenticated: self.config.password.is_empty(),
            since_ms: now,
            active_ms: now,
            last: "NULL",
            ..Session::default()
        };
        self.sessions.insert(id, session);
        self.stats.connections += 1;
        self.stats.started_ms.get_or_insert(now);
        id
    }

    /// True if it takes no more connections.
    pub(super) fn is_full(&self) -> bool {
        self.sessions.len() >= self.config.clients_max
    }

    /// Counts a connection that is one too many.
    pub(super) fn turn_away(&mut self) {
        self.stats.rejected += 1;
    }

    /// The end of a connection.
    pub fn disconnect(&mut self, id: SessionId) {
        if !self.sessions.contains_key(&id) {
            return;
        }
        self.stop_waiting(id);
        self.unwatch(id);
        self.unlisten_all(id);
        self.monitors.retain(|other| *other != id);
        self.sessions.remove(&id);
        self.lose_replica(id);
    }

    /// The state of a connection that there is.
    pub(super) fn session(&self, id: SessionId) -> &Session {
        self.sessions.get(&id).expect("a session is used only while it is connected")
    }

    pub(super) fn session_mut(&mut self, id: SessionId) -> &mut Session {
        self.sessions.get_mut(&id).expect("a session is used only while it is connected")
    }

    /// Executes a command of a connection when the wall clock shows `now`, and appends the reply to `reply`. What others
    /// get is taken with [`Node::take_deliveries`].
    ///
    /// # Panics
    /// When there is no such connection.
    pub fn execute(&mut self, now: WallTime, id: SessionId, args: &[&[u8]], reply: &mut Vec<u8>) -> Outcome {
        self.at(now);
        self.current = Some(id);
        std::mem::swap(reply, &mut self.out);
        let mut next = self.process(id, args);
        std::mem::swap(reply, &mut self.out);
        self.current = None;
        if !comes_upon_keys(args) {
            self.seal(0);
        }
        let elapsed_ms = self.store.settle();
        self.serve_ready();
        let effects = self.take_effects();
        self.session_mut(id).wrote = self.offset();
        self.ask_for_acks();
        if elapsed_ms > 0 && matches!(next, Next::Continue | Next::Stall(_)) {
            next = Next::Stall(elapsed_ms);
        }
        if self.session(id).leaving {
            next = Next::Close;
        }
        Outcome { effects, next }
    }

    /// Sets the time, and whose commands follow.
    pub(super) fn at(&mut self, now: WallTime) {
        self.store.begin(now);
        self.store.access = if self.is_replica() { Access::Replica } else { Access::Primary };
        if self.pause.is_some_and(|pause| self.store.now_ms() >= pause.until_ms) {
            self.end_pause();
        }
        if self.paused().is_some() {
            // Nothing is deleted during a pause: what is dead looks gone.
            self.store.access = Access::Replica;
        }
    }

    /// Goes into or out of a transaction or a script; where it was before.
    pub(super) fn enter(&mut self, nested: bool) -> bool {
        std::mem::replace(&mut self.nested, nested)
    }

    /// True inside a transaction or a script: nobody waits there.
    pub(super) fn is_nested(&self) -> bool {
        self.nested
    }

    /// The connections that there are, in the order of coming.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// What a connection may send now.
    pub(super) fn limits(&self, id: SessionId) -> Limits {
        let trusted = self.config.password.is_empty() || self.session(id).authenticated;
        Limits { bulk_max: self.config.bulk_max, waiting_max: self.config.query_max, trusted }
    }

    /// Ends a connection: at once, or after the reply if it is the one whose command is executed.
    pub(super) fn kill(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.leaving = true;
            if self.current != Some(id) {
                self.deliver(id, Arc::default(), Then::Close);
            }
        }
    }

    /// Evicts until the dataset takes no more memory than it may. True if it does.
    pub(super) fn make_room(&mut self) -> bool {
        let full = |store: &Store, most: u64| used_memory(store) > most;
        let evicts =
            self.config.policy != Policy::NoEviction && !self.is_replica() && self.paused().is_none();
        while full(&self.store, self.config.maxmemory) {
            if !evicts || !self.store.evict() {
                return false;
            }
        }
        true
    }

    /// What a node does every so often when the wall clock shows `now`: it deletes the keys that are dead, unless it is a
    /// replica, and answers those who have waited long enough.
    pub fn tick(&mut self, now: WallTime) -> Effects {
        self.at(now);
        self.tend_failover();
        if !self.is_replica() && self.paused().is_none() && !self.expires_lazily {
            self.store.expire_dead();
            self.digest_changes();
        }
        self.end_overdue();
        self.serve_ready();
        self.take_effects()
    }

    /// True while it has something to look at every so often.
    #[must_use]
    pub fn needs_ticks(&self) -> bool {
        self.paused().is_some() || self.has_deadlines() || !self.is_replica() && self.store.has_volatile()
    }

    /// What was done since it was last asked; it is in the stream now.
    fn take_effects(&mut self) -> Effects {
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        effects
    }
}

/// The reply to a command that needs memory when there is none.
pub(super) const OUT_OF_MEMORY: Reply =
    Reply::error("OOM command not allowed when used memory > 'maxmemory'.");
/// The reply to a write that too few replicas would get.
pub(super) const NOT_ENOUGH_REPLICAS: Reply = Reply::error("NOREPLICAS Not enough good replicas to write.");
/// The reply on a replica that has lost its primary and must not answer with what it had then.
pub(super) const MASTER_DOWN: Reply =
    Reply::error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
/// The reply to a write on a replica.
pub(super) const READ_ONLY: Reply = Reply::error("READONLY You can't write against a read only replica.");
