//! The scene of a statement: the state that it works on, and the effects that it has for others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chance::Chance;
use crate::protocol::{SqlError, Type};
use crate::server::data::{Actor, Heap, Routine, Row, Schema, Sequence, Sequences, Snapshot};
use crate::server::locks::{SessionId, Tag, Wait, Waits};
use crate::server::settings::Settings;

pub(crate) struct Scene<'a> {
    pub(crate) heap: &'a mut Heap,
    pub(crate) waits: &'a mut Waits,
    pub(crate) sequences: &'a mut Sequences,
    pub(crate) session: SessionId,
    pub(crate) pid: i32,
    pub(crate) pids: &'a BTreeMap<i32, SessionId>,
    /// True on a standby.
    pub(crate) in_recovery: bool,
    pub(crate) actor: Actor,
    pub(crate) snapshot: Snapshot,
    /// True if the snapshot is that of the transaction: what was changed since cannot be changed any more.
    pub(crate) frozen: bool,
    /// When the transaction and the statement began, and the time, in microseconds since 2000.
    pub(crate) began: i64,
    pub(crate) statement_began: i64,
    pub(crate) clock: i64,
    pub(crate) chance: &'a mut Chance,
    /// The settings of the session, and those that it has after the transaction.
    pub(crate) settings: &'a mut Settings,
    pub(crate) settled: &'a mut Settings,
    /// The numbers that the session was given by sequences, and the name of the last one.
    pub(crate) given: &'a mut BTreeMap<String, i64>,
    pub(crate) last_given: &'a mut Option<i64>,
    pub(crate) effects: &'a mut Vec<Effect>,
    /// The notices that the client gets besides.
    pub(crate) notices: &'a mut Vec<SqlError>,
}

/// The effect of a statement for others than its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It locked a row, which was its purpose.
    Locked {
        schema: Arc<Schema>,
        row: Row,
    },
    /// It read a row, these columns of it.
    Read {
        schema: Arc<Schema>,
        row: Row,
        columns: Vec<usize>,
    },
    /// It made a number of a text, as clients do to name an advisory lock.
    Hashed(i64, String),
    /// It took an advisory lock alone that the session did not have alone.
    Took(Tag),
    /// The session has this lock alone no more.
    GaveBack(Tag),
    /// A sequence, as it is to be logged.
    Sequence(String, Sequence),
    /// A domain or an enum that was created.
    Type(String, Type),
    /// A function that was created.
    Routine(Arc<Routine>),
    Notify {
        channel: String,
        payload: String,
    },
    /// A message to a session.
    Signal(SessionId, Signal),
    /// The standby is to lead from now on.
    Promoted,
    /// A table that was created, or that has a new key, outside of any transaction's fate.
    Keyed(Arc<Schema>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Cancel,
    Terminate,
}

/// The reason why a statement does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    Wait(Wait),
    Error(SqlError),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Error(error)
    }
}
