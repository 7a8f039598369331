//! The state of one session.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use picklock_model::ids::Key;
use picklock_model::time::Monotonic;
use picklock_sim::host::Origin;

use crate::protocol::{Format, Replies, SqlError};
use crate::server::data::{Actor, Xid};
use crate::server::execute::Work;
use crate::server::locks::Tag;
use crate::server::plan::Plan;
use crate::server::settings::Settings;
use crate::server::sql::{Isolation, Statement};

/// A session, from its connection on.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) pid: i32,
    pub(crate) secret: i32,
    pub(crate) stage: Stage,
    pub(crate) input: Vec<u8>,
    /// Answers that were not sent yet.
    pub(crate) replies: Replies,
    /// The text of the statements that it executes.
    pub(crate) text: Arc<str>,
    /// The message that brought what is being done.
    pub(crate) origin: Origin,
    pub(crate) statements: BTreeMap<String, Prepared>,
    pub(crate) portals: BTreeMap<String, Portal>,
    /// True after an error in the extended protocol, until the next Sync.
    pub(crate) skips: bool,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) settings: Settings,
    /// The settings after the transaction.
    pub(crate) settled: Settings,
    /// The settings with which it began.
    pub(crate) given_settings: Option<Settings>,
    /// The name of its application as the client was sent it.
    pub(crate) reported_name: String,
    /// Whether the server was said to be a standby.
    pub(crate) reported_recovery: bool,
    /// The statement that waits for a lock.
    pub(crate) waiting: Option<Waiting>,
    /// The number of commits that the statement under way sees.
    pub(crate) snapshot: Option<u64>,
    /// The numbers that it was given by sequences, and the last one of them.
    pub(crate) given: BTreeMap<String, i64>,
    pub(crate) last_given: Option<i64>,
    /// The advisory locks that were reported as its own, and by which names.
    pub(crate) reported: BTreeMap<Tag, Key>,
    /// The channels that it listens to, and what came on them.
    pub(crate) channels: BTreeSet<String>,
    pub(crate) notices: Vec<Notification>,
    /// Since when it is idle in a transaction.
    pub(crate) idle_since: Option<Monotonic>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Opening,
    Open,
    /// A standby follows the log on it.
    Replicating,
    Closed,
}

/// A prepared statement; none of the empty text.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) text: Arc<str>,
    pub(crate) plan: Option<Arc<Plan>>,
}

/// A prepared statement with its parameters.
pub(crate) struct Portal {
    /// None of the empty text.
    pub(crate) work: Option<Work>,
    pub(crate) formats: Vec<Format>,
    /// The tag of its completion, once it was executed.
    pub(crate) tag: Option<String>,
    /// How many rows of its result were sent.
    pub(crate) sent: usize,
}

/// A message on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    /// The process of the session that sent it.
    pub(crate) pid: i32,
    pub(crate) channel: String,
    pub(crate) payload: String,
}

pub(crate) struct Transaction {
    pub(crate) top: Xid,
    /// When it began, as `now()` shows it.
    pub(crate) began: i64,
    /// True if it was begun by BEGIN; otherwise it ends with the query that it began with.
    pub(crate) block: bool,
    /// True if it is to be rolled back and nothing else.
    pub(crate) failed: bool,
    /// The settings to go back to if it does not commit.
    pub(crate) before: Settings,
    pub(crate) isolation: Isolation,
    /// The number of commits that all of its statements see, if they see the same.
    pub(crate) snapshot: Option<u64>,
    /// True once it has executed a statement with a snapshot.
    pub(crate) looked: bool,
    /// The number of its last statement.
    pub(crate) command: u32,
    pub(crate) savepoints: Vec<Savepoint>,
    /// The rows whose lock was reported, with the part that locked them.
    pub(crate) reported: Vec<(Xid, Arc<str>, String)>,
    /// The effects on channels when it commits, with the part that wants them.
    pub(crate) posts: Vec<(Xid, Post)>,
    /// True if it has written to the log what does not depend on its commit: a sequence, a new key.
    pub(crate) wrote: bool,
    /// The place in the log behind its commit, once that is there.
    pub(crate) logged: Option<u64>,
    /// True if it is not to wait for the standby any more.
    pub(crate) unawaited: bool,
}

pub(crate) struct Savepoint {
    pub(crate) name: String,
    pub(crate) xid: Xid,
    /// The settings to go back to, and those after the transaction.
    pub(crate) settings: Settings,
    pub(crate) settled: Settings,
}

/// An effect on channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Post {
    Listen(String),
    /// To no channel without a name.
    Unlisten(Option<String>),
    Notify {
        channel: String,
        payload: String,
    },
}

impl Transaction {
    pub(crate) fn actor(&self) -> Actor {
        let xid = self.savepoints.last().map_or(self.top, |savepoint| savepoint.xid);
        Actor { top: self.top, xid, command: self.command }
    }
}

/// A statement that waits for a lock.
pub(crate) struct Waiting {
    pub(crate) job: Job,
    /// Since when the statement is under way.
    pub(crate) began: Monotonic,
    /// Since when it waits.
    pub(crate) since: Monotonic,
    /// True once it has looked for a deadlock.
    pub(crate) checked: bool,
}

/// The work that a session is in the middle of.
pub(crate) enum Job {
    /// A simple query: this statement, and those to come.
    Query { work: Box<Work>, rest: VecDeque<Statement> },
    /// The execution of a portal.
    Execute { portal: String, max_rows: i32 },
    /// The commit that ends a query outside of a block, after its last statement with this tag, or after none.
    Finish(Option<(Box<Work>, String)>),
}

/// The deadline of a wait or of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    Deadlock,
    Lock,
    Statement,
    Idle,
    IdleSession,
}

impl Session {
    /// The next thing that happens to it if nothing else does.
    pub(crate) fn alarm(&self) -> Option<(Monotonic, Alarm)> {
        let settings = &self.settings;
        if let Some(waiting) = &self.waiting {
            let deadlock =
                (!waiting.checked).then(|| (waiting.since + settings.deadlock_timeout(), Alarm::Deadlock));
            let lock = settings.lock_timeout().map(|span| (waiting.since + span, Alarm::Lock));
            let whole = settings.statement_timeout().map(|span| (waiting.began + span, Alarm::Statement));
            return deadlock.into_iter().chain(lock).chain(whole).min();
        }
        let since = self.idle_since?;
        if self.status() == b'I' {
            return settings.idle_session_timeout().map(|span| (since + span, Alarm::IdleSession));
        }
        settings.idle_timeout().map(|span| (since + span, Alarm::Idle))
    }

    /// True if it waits for a message outside of a transaction.
    pub(crate) fn is_idle(&self) -> bool {
        self.stage == Stage::Open && self.transaction.is_none() && self.waiting.is_none()
    }

    /// The status of its transaction: I, T or E.
    pub(crate) fn status(&self) -> u8 {
        match &self.transaction {
            Some(transaction) if transaction.failed => b'E',
            Some(transaction) if transaction.block => b'T',
            _ => b'I',
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| transaction.failed)
    }

    /// Refuses anything but the end of a transaction that has failed.
    pub(crate) fn admits(&self, ends: bool) -> Result<(), SqlError> {
        if !self.has_failed() || ends {
            return Ok(());
        }
        let text = "current transaction is aborted, commands ignored until end of transaction block";
        Err(SqlError::new("25P02", text))
    }
}
