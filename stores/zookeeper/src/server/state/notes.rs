//! The messages between members beside the log, and the entries of the log.
//!
//! *Source:* the packets REQUEST, REVALIDATE, SYNC, PING, UPTODATE between a learner and its leader, ZooKeeper 3.8.

#![expect(unreachable_pub, reason = "the macro makes public records")]

use crate::jute::{Malformed, Record, records};
use crate::messages::{Create, flags, opcode};

records! {
    /// A change of the state, as the log has it.
    Command {
        /// The number by which the member that got the request knows it.
        request: i64,
        session: i64,
        /// The leader's wall clock, in milliseconds.
        time: i64,
        /// Why the leader has refused it; 0 if it has not.
        error: i32,
        /// At the end of a session that ran out: how long ago it did, in nanoseconds. Below 0 for another change. For the trace.
        overdue_ns: i64,
        opcode: i32,
        /// The record of the request.
        record: Option<Vec<u8>>,
    }
    /// A session that a learner has heard of.
    Touch {
        session: i64,
        timeout: i32,
        /// How long ago, in nanoseconds. For the trace: no leader counts by it.
        age_ns: i64,
    }
    /// The answer of a learner to a sign of life.
    Report {
        /// It wants to serve clients, and asks up to where it has to be for that.
        joins: bool,
        touched: Vec<Touch>,
    }
    /// A place in the log, as the answer to the question of this number.
    Place { number: i64, index: i64, }
    /// Whether a session goes on through another member.
    Revalidate { number: i64, session: i64, timeout: i32, }
    Revalidated { number: i64, valid: bool, }
}

/// The opcodes that no client uses.
pub(crate) const CREATE_SESSION: i32 = -10;
pub(crate) const DELETE_CONTAINER: i32 = 20;

impl Command {
    /// True if it makes a node that ends with its session.
    pub(crate) fn makes_ephemeral(&self) -> bool {
        let creates = matches!(self.opcode, opcode::CREATE | opcode::CREATE2 | opcode::CREATE_CONTAINER);
        let record = self.record.as_deref().filter(|_| creates);
        let create = record.and_then(|record| Create::whole(record).ok());
        create.is_some_and(|create| matches!(create.flags, flags::EPHEMERAL | flags::EPHEMERAL_SEQUENTIAL))
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Note {
    /// A request is for the leader.
    Request(Command),
    Report(Report),
    /// A learner may serve once it is up to this place.
    Joined(i64),
    Sync(i64),
    Synced(Place),
    Revalidate(Revalidate),
    Revalidated(Revalidated),
}

impl Record for Note {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, record) = match self {
            Note::Request(command) => (1, command.bytes()),
            Note::Report(report) => (2, report.bytes()),
            Note::Joined(index) => (3, index.bytes()),
            Note::Sync(number) => (4, number.bytes()),
            Note::Synced(place) => (5, place.bytes()),
            Note::Revalidate(ask) => (6, ask.bytes()),
            Note::Revalidated(answer) => (7, answer.bytes()),
        };
        i32::put(&kind, out);
        out.extend_from_slice(&record);
    }

    fn take(from: &mut &[u8]) -> Result<Note, Malformed> {
        Ok(match i32::take(from)? {
            1 => Note::Request(Record::take(from)?),
            2 => Note::Report(Record::take(from)?),
            3 => Note::Joined(Record::take(from)?),
            4 => Note::Sync(Record::take(from)?),
            5 => Note::Synced(Record::take(from)?),
            6 => Note::Revalidate(Record::take(from)?),
            7 => Note::Revalidated(Record::take(from)?),
            _ => return Err(Malformed),
        })
    }
}
