//! The state of one connection in a node.

use std::collections::BTreeSet;

use super::caching::Caching;
use super::ids::{KeptCommand, SessionId};
use super::queues::Waiting;
use crate::protocol::resp::{Protocol, Reply};

/// The state of one connection.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its number.
    pub id: SessionId,
    /// Where it comes from.
    pub peer: String,
    /// The real address at which it came in, if it did so from outside of the world.
    pub(crate) door: Option<String>,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The name that the client gave itself; empty if none.
    pub name: Vec<u8>,
    /// The database that its commands are about.
    pub database: usize,
    /// The offset of the effects when its last command was done.
    pub wrote: u64,
    /// The name and version of its library, as the client reported them.
    pub(crate) library: [Vec<u8>; 2],
    /// When it connected, and when it sent its last command, in milliseconds of the wall clock.
    pub(crate) since_ms: i64,
    pub(crate) active_ms: i64,
    /// The name of its last command.
    pub(crate) last: &'static str,
    /// True if it gave the password, where there is one.
    pub(crate) authenticated: bool,
    /// The commands that are answered.
    pub(crate) answers: Answers,
    /// The commands that it has queued since MULTI.
    pub(crate) transaction: Option<Box<Transaction>>,
    /// How many commands the transaction has that is executed now.
    pub(crate) executes: Option<usize>,
    /// The keys that it watches.
    pub(crate) watched: Vec<Watched>,
    /// True if a key that it watches was changed.
    pub(crate) overtaken: bool,
    /// The channels that it listens to.
    pub(crate) heard: Option<Box<Heard>>,
    /// Its cache, if it is notified of changes.
    pub(crate) caching: Option<Box<Caching>>,
    /// True if it is shown all commands.
    pub(crate) monitors: bool,
    /// CLIENT NO-EVICT and CLIENT NO-TOUCH.
    pub(crate) spared: bool,
    pub(crate) leaves_untouched: bool,
    /// True if it was ordered to go: nothing more is executed for it.
    pub(crate) leaving: bool,
    /// ASKING: its next command may be about a slot that is on its way here.
    pub(crate) asking: bool,
    /// READONLY: it reads from replicas.
    pub(crate) reads_replicas: bool,
    /// The slot of the keys of its command at hand, in a cluster.
    pub(crate) slot: Option<u16>,
    /// The wait of the session; until it ends, nothing else that it sends is executed.
    pub(crate) waiting: Option<Box<Waiting>>,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answers {
    #[default]
    On,
    Off,
    /// The next command is not answered.
    SkipNext,
    /// The present command is not answered.
    Skip,
}

/// The commands that were queued since MULTI.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) commands: Vec<KeptCommand>,
    /// The flags that any of them has, and those that any of them lacks.
    pub(crate) flags: u32,
    pub(crate) lacks: u32,
    /// True if a command was refused: EXEC will be, too.
    pub(crate) refused: bool,
}

/// A key that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) database: usize,
    pub(crate) key: Vec<u8>,
    /// True if it was dead, but not deleted, when it was first watched.
    pub(crate) was_dead: bool,
}

/// The channels that a session listens to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) channels: BTreeSet<Vec<u8>>,
    pub(crate) patterns: BTreeSet<Vec<u8>>,
    pub(crate) shards: BTreeSet<Vec<u8>>,
}

impl Heard {
    /// How many channels and patterns.
    pub(crate) fn len(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    /// How many of any kind.
    pub(crate) fn total(&self) -> usize {
        self.len() + self.shards.len()
    }
}

impl Session {
    /// True while it may send nothing but what is about its subscriptions.
    pub(crate) fn only_listens(&self) -> bool {
        self.protocol == Protocol::Two && self.heard.as_ref().is_some_and(|heard| heard.total() > 0)
    }

    /// True while it listens to a channel or a pattern.
    pub(crate) fn listens(&self) -> bool {
        self.heard.as_ref().is_some_and(|heard| heard.total() > 0)
    }

    /// True while it waits.
    pub(crate) fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// True if its present command gets a reply.
    pub(crate) fn is_answered(&self) -> bool {
        !matches!(self.answers, Answers::Off | Answers::Skip)
    }
}

/// The reply to what a session may not send while it listens and speaks RESP2.
pub(crate) fn only_listens(name: &str) -> Reply {
    Reply::Error(
        format!(
            "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
             context"
        )
        .into(),
    )
}
