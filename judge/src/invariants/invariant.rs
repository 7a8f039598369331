//! The type of an invariant: a name, the property that it demands, and a function that judges a run.

use crate::history::History;
use crate::outcome::Outcome;

/// One invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in reports.
    pub name: &'static str,
    /// Its number in the project's list of invariants, such as `I1`.
    pub number: &'static str,
    /// The property of every correct run, in one line.
    pub property: &'static str,
    /// The promise of a lock that it checks. Reports group violations by it.
    pub promise: Promise,
    /// Its place in the order of severity, 1 the most severe, each number once: a run is reduced to the most severe invariant that it
    /// violates. Harmed data come first, then a lock that nobody can acquire, then from the last consequence to the first cause.
    pub severity: u8,
    /// The part of a trace that it is judged by.
    pub evidence: Evidence,
    /// The way in which it is judged in a recorded history, where clocks may be off.
    pub recorded: Recorded,
    /// Judges one run.
    pub check: fn(&History<'_>) -> Outcome,
}

/// A promise of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The data that it guards are not harmed.
    Data,
    /// Its waiters get it.
    Availability,
    /// It has one holder at a time.
    Holders,
    /// Its fencing tokens increase.
    Tokens,
    /// Its grants last as long as they say.
    Deadlines,
    /// It does with its records and its answers as it says.
    Conduct,
}

/// The part of a trace that an invariant is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The events of clients.
    Clients,
    /// The records of locks that stores keep. Real servers do not report them.
    Records,
    /// The reads and writes of the guarded data. A real store does not report them where the data lie in it.
    Resource,
}

/// The way in which an invariant is judged in a recorded history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// By the intervals in which holders believed for sure, and perhaps.
    ByIntervals,
    /// By the tokens in the order in which they were granted for sure.
    ByTokens,
    /// As in runs; for a history where it does not apply, the reason.
    AsInRuns(&'static str),
    /// As in runs if a resource noted what was read and written; for a history where it does not apply, the reason.
    OfResource(&'static str),
    /// Not at all: a history lacks what it is judged by.
    Never,
}
