//! The invariants: what a run must keep, each a pure function of its [`History`].
//!
//! All are judged in the simulator's true time, from neutral events that every server emits, so that no invariant
//! knows a protocol. The numbers are those of the project's list of invariants. An invariant says
//! [`Outcome::Unknown`] only when it had nothing to look at; whether a scheduled fault made a difference at all is
//! for the caller to add.

use std::time::Duration;

use picklock_sim::ids::{EventId, GrantId};
use picklock_sim::time::nanos;
use picklock_sim::trace::Event;

use crate::history::History;
use crate::outcome::{Finding, Outcome};

pub mod clean_failure;
pub mod continuity;
pub mod effective_exclusion;
pub mod honest_validity;
pub mod mutual_exclusion;
pub mod no_lost_update;
pub mod ownership;
pub mod progress;
pub mod reentrancy;
pub mod token_order;

#[cfg(test)]
pub(crate) mod testing;

/// One invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in reports.
    pub name: &'static str,
    /// Its number in the project's list of invariants, such as `I1`.
    pub number: &'static str,
    /// What it demands, in one line.
    pub claim: &'static str,
    /// Judges one run.
    pub check: fn(&History<'_>) -> Outcome,
}

/// All invariants, by number.
pub const ALL: &[Invariant] = &[
    mutual_exclusion::INVARIANT,
    effective_exclusion::INVARIANT,
    token_order::INVARIANT,
    ownership::INVARIANT,
    progress::INVARIANT,
    reentrancy::INVARIANT,
    no_lost_update::INVARIANT,
    honest_validity::INVARIANT,
    continuity::INVARIANT,
    clean_failure::INVARIANT,
];

/// The invariant of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Invariant> {
    ALL.iter().find(|invariant| invariant.name == name)
}

/// Violated if there is a finding. Puts the findings in the order in which the breaches were complete.
fn judged(history: &History<'_>, mut findings: Vec<Finding>) -> Outcome {
    if findings.is_empty() {
        return Outcome::Holds;
    }
    let complete = |finding: &Finding| finding.events.last().map(|id| (position(history, *id), *id));
    findings.sort_by_key(complete);
    Outcome::Violated(findings)
}

/// Where an event stands in its trace. An id is the order of emission, which is the true-time order but for events
/// stamped ahead of their emission.
fn position(history: &History<'_>, id: EventId) -> Option<usize> {
    let events = &history.trace.events;
    let guess = id.0 as usize;
    if events.get(guess).is_some_and(|event| event.id == id) {
        return Some(guess);
    }
    events.iter().position(|event| event.id == id)
}

/// The ids of events, in true-time order, each once.
fn cite<'t>(events: impl IntoIterator<Item = &'t Event>) -> Vec<EventId> {
    let mut events: Vec<&Event> = events.into_iter().collect();
    events.sort_by_key(|event| (event.at, event.id));
    events.dedup_by_key(|event| event.id);
    events.into_iter().map(|event| event.id).collect()
}

/// A grant as findings name it.
fn who(history: &History<'_>, grant: GrantId) -> String {
    format!("{} (section {})", history.trace.host_name(grant.client), grant.section)
}

/// A span in milliseconds, exact to the microsecond; shorter ones in nanoseconds.
fn ms(span: Duration) -> String {
    let ns = nanos(span);
    let micros = ns / 1_000;
    match (micros, micros % 1_000) {
        (0, _) => format!("{ns} ns"),
        (_, 0) => format!("{} ms", micros / 1_000),
        (_, rest) => format!("{}.{rest:03} ms", micros / 1_000),
    }
}
