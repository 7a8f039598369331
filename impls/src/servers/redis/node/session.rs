//! What a node keeps of one connection.

use std::collections::BTreeSet;

use super::waiting::Waiting;
use crate::servers::redis::resp::Protocol;

/// The number of a connection, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

impl SessionId {
    /// The number as a reply gives it.
    #[must_use]
    pub fn number(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

/// A command with its arguments, kept to be executed later.
pub(in crate::servers::redis) type Kept = Vec<Vec<u8>>;

/// What a node keeps of one connection.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its number.
    pub id: SessionId,
    /// Where it comes from.
    pub peer: String,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The name that the client gave itself; empty if none.
    pub name: Vec<u8>,
    /// The database that its commands are about.
    pub database: usize,
    /// The offset of the effects when its last command was done.
    pub wrote: u64,
    /// What the client said about its library: name and version.
    pub(in crate::servers::redis) library: [Vec<u8>; 2],
    /// When it connected, and when it sent its last command, in milliseconds of the wall clock.
    pub(in crate::servers::redis) since_ms: i64,
    pub(in crate::servers::redis) active_ms: i64,
    /// The name of its last command.
    pub(in crate::servers::redis) last: &'static str,
    /// True if it gave the password, where there is one.
    pub(in crate::servers::redis) authenticated: bool,
    /// Whether its commands are answered.
    pub(in crate::servers::redis) answers: Answers,
    /// The commands that it has queued since MULTI.
    pub(in crate::servers::redis) transaction: Option<Box<Transaction>>,
    /// How many commands the transaction has that is executed now.
    pub(in crate::servers::redis) executes: Option<usize>,
    /// The keys that it watches.
    pub(in crate::servers::redis) watched: Vec<Watched>,
    /// True if a key that it watches was changed.
    pub(in crate::servers::redis) overtaken: bool,
    /// The channels that it listens to.
    pub(in crate::servers::redis) heard: Option<Box<Heard>>,
    /// True if it is shown all commands.
    pub(in crate::servers::redis) monitors: bool,
    /// CLIENT NO-EVICT and CLIENT NO-TOUCH.
    pub(in crate::servers::redis) spared: bool,
    pub(in crate::servers::redis) leaves_untouched: bool,
    /// True if it was told to go: nothing more is executed for it.
    pub(in crate::servers::redis) leaving: bool,
    /// What it waits for; until then, nothing else that it sends is executed.
    pub(super) waiting: Option<Box<Waiting>>,
}

/// CLIENT REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::servers::redis) enum Answers {
    #[default]
    On,
    Off,
    /// The next command is not answered.
    SkipNext,
    /// The present command is not answered.
    Skip,
}

/// What was queued since MULTI.
#[derive(Clone, Debug, Default)]
pub(in crate::servers::redis) struct Transaction {
    pub(in crate::servers::redis) commands: Vec<Kept>,
    /// The flags that any of them has, and those that any of them lacks.
    pub(in crate::servers::redis) flags: u32,
    pub(in crate::servers::redis) lacks: u32,
    /// True if a command was refused: EXEC will be, too.
    pub(in crate::servers::redis) refused: bool,
}

/// A key that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::servers::redis) struct Watched {
    pub(in crate::servers::redis) database: usize,
    pub(in crate::servers::redis) key: Vec<u8>,
    /// True if it was dead, but not deleted, when it was first watched.
    pub(in crate::servers::redis) was_dead: bool,
}

/// The channels that a session listens to.
#[derive(Clone, Debug, Default)]
pub(in crate::servers::redis) struct Heard {
    pub(in crate::servers::redis) channels: BTreeSet<Vec<u8>>,
    pub(in crate::servers::redis) patterns: BTreeSet<Vec<u8>>,
    pub(in crate::servers::redis) shards: BTreeSet<Vec<u8>>,
}

impl Heard {
    /// How many channels and patterns.
    pub(in crate::servers::redis) fn len(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    /// How many of any kind.
    pub(in crate::servers::redis) fn total(&self) -> usize {
        self.len() + self.shards.len()
    }
}

impl Session {
    /// True while it may send nothing but what is about its subscriptions.
    pub(in crate::servers::redis) fn only_listens(&self) -> bool {
        self.protocol == Protocol::Two && self.heard.as_ref().is_some_and(|heard| heard.total() > 0)
    }

    /// True while it waits.
    pub(in crate::servers::redis) fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// True if its present command gets a reply.
    pub(super) fn is_answered(&self) -> bool {
        !matches!(self.answers, Answers::Off | Answers::Skip)
    }
}
