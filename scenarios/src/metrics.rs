//! Measures of one run: what a lock costs and how long it keeps its clients waiting.

use picklock_sim::lock::Belief;
use picklock_sim::time::{TrueTime, nanos};
use picklock_sim::trace::{Role, What};

use crate::history::{History, Section};
use crate::invariants::{Invariant, mutual_exclusion};
use crate::outcome::{Finding, Outcome};
use crate::summary::Metrics;

mod fairness;
mod loss;
mod overlap;
mod renewals;
mod retries;
mod waste;

/// Measures a run of which the invariants say this.
#[must_use]
pub fn of(history: &History<'_>, outcomes: &[(&Invariant, Outcome)]) -> Metrics {
    let mut metrics = Metrics::default();
    for section in &history.sections {
        let Some(asked) = section.asked else { continue };
        metrics.asked += 1;
        if let Some(grant) = &section.grant {
            metrics.granted += 1;
            metrics.latency.record(grant.acquired.at.since(asked.at));
        }
    }
    metrics.contended = contended(history);
    metrics.acquire_messages = acquire_messages(history);
    metrics.run_ns = history.trace.end.as_nanos();
    let renewals = renewals::of(history);
    (metrics.renewals, metrics.renewal_peak) = (renewals.total, renewals.peak);
    metrics.retries = retries::of(history);
    let bypasses = fairness::of(history);
    (metrics.bypasses, metrics.bypass_peak) = (bypasses.total, bypasses.most);
    let waste = waste::of(history);
    (metrics.holders_died, metrics.wasted_ns) = (waste.deaths, waste.ns);
    let losses = loss::of(history);
    losses.noticed.iter().for_each(|notice| metrics.loss_notice.record(*notice));
    metrics.losses_unnoticed = losses.unnoticed;
    let overlaps = overlap::of(history, overlaps_found(outcomes));
    (metrics.overlap_ns, metrics.overlap_widest_ns) = (overlaps.total, overlaps.widest);
    (metrics.overlap_window_ns, metrics.overlap_fault_ns) = (overlaps.window, overlaps.fault);
    if history.trace.belief != Belief::None {
        (metrics.wanted_ns, metrics.blocked_ns) = spans(history);
    }
    metrics
}

/// What mutual exclusion has found.
fn overlaps_found<'a>(outcomes: &'a [(&Invariant, Outcome)]) -> &'a [Finding] {
    let exclusion = outcomes.iter().find(|(invariant, _)| invariant.name == mutual_exclusion::INVARIANT.name);
    match exclusion {
        Some((_, Outcome::Violated(found))) => found,
        _ => &[],
    }
}

/// Sections that asked while another one asked for or had the same key.
fn contended(history: &History<'_>) -> u64 {
    let end = history.trace.end;
    let met = |a: &Section<'_>, b: &Section<'_>| {
        let (Some((a_from, a_until)), Some((b_from, b_until))) = (interest(a, end), interest(b, end)) else {
            return false;
        };
        a.key == b.key && a.id != b.id && a_from < b_until && b_from < a_until
    };
    history.sections.iter().filter(|a| history.sections.iter().any(|b| met(a, b))).count() as u64
}

/// From asking until the key was let go or never given.
fn interest(section: &Section<'_>, end: TrueTime) -> Option<(TrueTime, TrueTime)> {
    let from = section.asked?.at;
    let until = match &section.grant {
        Some(grant) => grant.let_go.map_or(end, |event| event.at),
        None => section.answered.map_or(end, |event| event.at),
    };
    Some((from, until))
}

/// Messages that clients sent to stores between asking for the lock and the answer.
fn acquire_messages(history: &History<'_>) -> u64 {
    let trace = history.trace;
    let mut asking = vec![false; trace.hosts.len()];
    let mut messages = 0;
    for event in &trace.events {
        let Some(asks) = asking.get_mut(usize::from(event.host.0)) else { continue };
        match event.what {
            What::Waiting { .. } => *asks = true,
            What::Acquired { .. } | What::NotAcquired { .. } | What::Crashed { .. } => *asks = false,
            What::Sent { peer, .. } if *asks && trace.role(peer) == Some(Role::Store) => messages += 1,
            _ => {}
        }
    }
    messages
}

/// True time in which somebody wanted or had a key, and of it that in which nobody had it. Keys are summed.
fn spans(history: &History<'_>) -> (u64, u64) {
    let end = history.trace.end;
    let (mut wanted, mut held) = (0, 0);
    for key in 0..history.keys.len() {
        let sections = || history.sections.iter().filter(move |section| section.key == key);
        wanted += covered(sections().filter_map(|section| interest(section, end)).collect());
        let holds = sections().filter_map(|section| {
            let grant = section.grant.as_ref()?;
            Some((grant.acquired.at, grant.let_go.map_or(end, |event| event.at)))
        });
        held += covered(holds.collect());
    }
    (wanted, wanted.saturating_sub(held))
}

/// The length of the union of spans, in nanoseconds.
fn covered(mut spans: Vec<(TrueTime, TrueTime)>) -> u64 {
    spans.sort_unstable();
    let mut total = 0;
    let mut reached = TrueTime(0);
    for (from, until) in spans {
        total += nanos(until.since(from.max(reached)));
        reached = reached.max(until);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_are_counted_once() {
        let span = |from, until| (TrueTime(from), TrueTime(until));
        assert_eq!(covered(vec![span(5, 9), span(0, 3), span(2, 6), span(20, 21)]), 10);
    }
}
