//! The form of all findings: their order, the events that they cite, the names that they use.

use std::time::Duration;

use picklock_model::ids::{EventId, GrantId};
use picklock_model::time::{TrueTime, nanos};
use picklock_model::trace::Event;

use crate::history::History;
use crate::outcome::{Finding, Outcome};

/// The reason why what stores kept is not judged.
pub(super) const NOTHING_REPORTED: &str = "no server reported which records of locks it kept";

/// Violated if there is a finding. Puts the findings in the order in which the breaches were complete, and the grants of
/// each in grant order: here and nowhere else, so that whoever shows a finding may rely on it.
pub(super) fn judged(history: &History<'_>, mut findings: Vec<Finding>) -> Outcome {
    if findings.is_empty() {
        return Outcome::Holds;
    }
    for finding in &mut findings {
        finding.grants.sort_by_key(|grant| history.order_of(*grant));
        finding.grants.dedup();
    }
    let complete = |finding: &Finding| finding.events.last().map(|id| (history.position(*id), *id));
    findings.sort_by_key(complete);
    Outcome::Violated(findings)
}

/// The ids of events, in true-time order, each once.
pub(super) fn cite<'t>(events: impl IntoIterator<Item = &'t Event>) -> Vec<EventId> {
    let mut events: Vec<&Event> = events.into_iter().collect();
    events.sort_by_key(|event| (event.at, event.id));
    events.dedup_by_key(|event| event.id);
    events.into_iter().map(|event| event.id).collect()
}

/// Two grants in grant order, for a sentence that names both: the earlier one comes first.
pub(super) fn in_order(history: &History<'_>, mut grants: [GrantId; 2]) -> [GrantId; 2] {
    grants.sort_by_key(|grant| history.order_of(*grant));
    grants
}

/// A grant as findings name it.
pub(super) fn who(history: &History<'_>, grant: GrantId) -> String {
    let client = history.trace.host_name(grant.client);
    match grant.task {
        0 => format!("{client} (section {})", grant.section),
        task => format!("{client} (task {}, section {})", task + 1, grant.section),
    }
}

/// "was" or "were".
pub(super) fn were(count: i64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// The span between two instants, in milliseconds: as long as they say as they are written, which is to the microsecond, rounded
/// down.
#[must_use]
pub fn between(from: TrueTime, until: TrueTime) -> String {
    let written = |at: TrueTime| TrueTime(at.as_nanos() / 1_000 * 1_000);
    match written(until).since(written(from)) {
        Duration::ZERO => ms(until.since(from)),
        span => ms(span),
    }
}

/// A span in milliseconds, exact to the microsecond; shorter ones in nanoseconds.
pub(super) fn ms(span: Duration) -> String {
    let ns = nanos(span);
    let micros = ns / 1_000;
    match (micros, micros % 1_000) {
        (0, _) => format!("{ns} ns"),
        (_, 0) => format!("{} ms", micros / 1_000),
        (_, rest) => format!("{}.{rest:03} ms", micros / 1_000),
    }
}
