//! Measures of one run: what a lock costs and how long it keeps its clients waiting.

use picklock_model::time::{TrueTime, nanos};
use picklock_model::trace::Belief;
use picklock_model::trace::{Role, What};

use crate::history::{History, Section};
use crate::invariants::{Invariant, Promise};
use crate::outcome::{Finding, Outcome};

mod fairness;
mod loss;
mod measures;
mod overlap;
mod promotion;
mod renewals;
mod retries;
mod takeover;
mod waste;

pub use measures::{Latencies, Metrics};

/// Measures a run of which the invariants say this.
#[must_use]
pub fn of(history: &History<'_>, outcomes: &[(&Invariant, Outcome)]) -> Metrics {
    let mut metrics = Metrics::default();
    for section in of_the_plan(history) {
        let Some(asked) = section.asked else { continue };
        metrics.asked += 1;
        if let Some(grant) = &section.grant {
            metrics.granted += 1;
            metrics.latency.record(grant.acquired.at.since(asked.at));
        }
    }
    let interests = interests(history);
    metrics.contended = contended(&interests);
    metrics.acquire_messages = acquire_messages(history);
    metrics.run_ns = end(history).as_nanos();
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
    let promotions = promotion::of(history);
    metrics.promotions = u64::from(promotions.under_a_grant);
    metrics.promotions_lacking = u64::from(promotions.lacking);
    let takeovers = takeover::of(history);
    metrics.halted_holders = u64::from(takeovers.halted);
    metrics.takeovers = u64::from(takeovers.taken);
    let overlaps = overlap::of(history, overlaps_found(outcomes));
    (metrics.overlap_ns, metrics.overlap_widest_ns) = (overlaps.total, overlaps.widest);
    (metrics.overlap_window_ns, metrics.overlap_fault_ns) = (overlaps.window, overlaps.fault);
    if history.trace.belief != Belief::None {
        (metrics.wanted_ns, metrics.blocked_ns) = spans(&interests, &holds(history));
    }
    metrics
}

/// The sections that the plan asks for: not those of the fresh client at the end, which is there to ask and costs nothing.
fn of_the_plan<'h, 't>(history: &'h History<'t>) -> impl Iterator<Item = &'h Section<'t>> {
    history.sections.iter().filter(|section| !history.trace.is_final_client(section.id.client))
}

/// When the clients of the plan were done.
fn end(history: &History<'_>) -> TrueTime {
    history.trace.final_client.and_then(|final_client| final_client.came).unwrap_or(history.trace.end)
}

/// The findings of mutual exclusion.
fn overlaps_found<'a>(outcomes: &'a [(&Invariant, Outcome)]) -> &'a [Finding] {
    let exclusion = outcomes.iter().find(|(invariant, _)| invariant.promise == Promise::Holders);
    match exclusion {
        Some((_, Outcome::Violated(found))) => found,
        _ => &[],
    }
}

/// A stretch of true time that belongs to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    key: usize,
    from: TrueTime,
    until: TrueTime,
}

/// From asking until the key was let go or never given, for each section that asked; those of one key together, in the
/// order of their beginnings.
fn interests(history: &History<'_>) -> Vec<Span> {
    let end = end(history);
    let interest = |section: &Section<'_>| {
        let until = match &section.grant {
            Some(grant) => grant.let_go.map_or(end, |event| event.at),
            None => section.answered.map_or(end, |event| event.at),
        };
        Some(Span { key: section.key, from: section.asked?.at, until })
    };
    sorted(of_the_plan(history).filter_map(interest).collect())
}

/// From the grant until it was let go, for each section that was granted; in the same order.
fn holds(history: &History<'_>) -> Vec<Span> {
    let end = end(history);
    let hold = |section: &Section<'_>| {
        let grant = section.grant.as_ref()?;
        let until = grant.let_go.map_or(end, |event| event.at);
        Some(Span { key: section.key, from: grant.acquired.at, until })
    };
    sorted(of_the_plan(history).filter_map(hold).collect())
}

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans
}

fn by_key(spans: &[Span]) -> impl Iterator<Item = &[Span]> {
    spans.chunk_by(|one, other| one.key == other.key)
}

/// Sections that asked while another one asked for or had the same key.
fn contended(interests: &[Span]) -> u64 {
    by_key(interests).map(meetings).sum()
}

/// How many of these spans meet another one: of those that begin before it ends, the one that lasts longest, or the
/// second if that is itself, ends after it begins.
fn meetings(spans: &[Span]) -> u64 {
    let mut longest = Vec::with_capacity(spans.len());
    let mut two = [None; 2];
    for (at, span) in spans.iter().enumerate() {
        let this = Some((span.until, at));
        if this > two[0] {
            two = [this, two[0]];
        } else if this > two[1] {
            two[1] = this;
        }
        longest.push(two);
    }
    let meets = |(at, span): &(usize, &Span)| {
        let begun = spans.partition_point(|other| other.from < span.until);
        let longest = begun.checked_sub(1).and_then(|last| longest.get(last));
        longest.into_iter().flatten().flatten().any(|(until, other)| other != at && *until > span.from)
    };
    spans.iter().enumerate().filter(meets).count() as u64
}

/// Messages that clients sent to stores, or to the pooler before one, between asking for the lock and the answer.
fn acquire_messages(history: &History<'_>) -> u64 {
    let trace = history.trace;
    let mut asking = vec![false; trace.hosts.len()];
    let mut messages = 0;
    for event in &trace.events {
        let Some(asks) = asking.get_mut(usize::from(event.host.0)) else { continue };
        match event.what {
            What::Waiting { .. } => *asks = !trace.is_final_client(event.host),
            What::Acquired { .. } | What::NotAcquired { .. } | What::Crashed { .. } => *asks = false,
            What::Sent { peer, .. } if *asks && takes_requests(trace.role(peer)) => messages += 1,
            _ => {}
        }
    }
    messages
}

/// True for a host that clients of a lock send their requests to.
fn takes_requests(role: Option<Role>) -> bool {
    matches!(role, Some(Role::Leader | Role::Follower | Role::Proxy))
}

/// True time in which somebody wanted or had a key, and of it that in which nobody had it. Keys are summed.
fn spans(interests: &[Span], holds: &[Span]) -> (u64, u64) {
    let wanted = by_key(interests).map(covered).sum::<u64>();
    let held = by_key(holds).map(covered).sum::<u64>();
    (wanted, wanted.saturating_sub(held))
}

/// The length of the union of spans, in nanoseconds.
fn covered(spans: &[Span]) -> u64 {
    let mut total = 0;
    let mut reached = TrueTime(0);
    for Span { from, until, .. } in spans {
        total += nanos(until.since(*from.max(&reached)));
        reached = reached.max(*until);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(spans: &[(u64, u64)]) -> Vec<Span> {
        let span =
            |(from, until): &(u64, u64)| Span { key: 0, from: TrueTime(*from), until: TrueTime(*until) };
        sorted(spans.iter().map(span).collect())
    }

    #[test]
    fn messages_to_followers_and_poolers_are_counted_as_long_as_a_client_asks() {
        use crate::invariants::testing::{A1, CLIENT_1, NODE_1, NODE_2, REPLICA, Script};
        let sends = |script: Script, peer| {
            let content = picklock_model::trace::Content::of(b"GET");
            script.event(CLIENT_1, Some(A1), What::Sent { peer, segment: 0, bytes: 3, content })
        };
        let script = [NODE_1, NODE_2, REPLICA].into_iter().fold(Script::new().at(0).waits(A1), sends);
        let mut trace = sends(script.at(5).acquires(A1).at(6), NODE_1).trace();
        trace.hosts[usize::from(NODE_2.0)].role = Role::Proxy;
        assert_eq!(acquire_messages(&History::of(&trace)), 3);
    }

    #[test]
    fn overlapping_spans_are_counted_once() {
        assert_eq!(covered(&spans(&[(5, 9), (0, 3), (2, 6), (20, 21)])), 10);
    }

    #[test]
    fn spans_meet_if_each_begins_before_the_other_ends() {
        assert_eq!(meetings(&spans(&[(0, 9), (1, 2), (9, 12), (20, 21)])), 2);
        assert_eq!(meetings(&spans(&[(0, 5), (4, 8), (7, 12), (12, 13)])), 3);
        assert_eq!(meetings(&spans(&[(3, 3), (3, 9), (3, 3), (5, 5)])), 2, "empty ones only within another");
    }

    #[test]
    fn meetings_are_those_that_a_comparison_of_all_pairs_finds() {
        for round in 0..50_u64 {
            let drawn = |nth: u64| {
                let from = (nth * 7_919 + round * 104_729) % 23;
                (from, from + (nth * 31 + round) % 5)
            };
            let spans = spans(&(0..9).map(drawn).collect::<Vec<_>>());
            let meets = |a: usize| {
                let meets =
                    |b: usize| a != b && spans[a].from < spans[b].until && spans[b].from < spans[a].until;
                (0..spans.len()).any(meets)
            };
            assert_eq!(meetings(&spans), (0..spans.len()).filter(|at| meets(*at)).count() as u64);
        }
    }
}
