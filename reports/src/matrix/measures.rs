//! The figures of a cell that have a column of their own: the gain of a lock and its cost.

use picklock_judge::metrics::Metrics;

use super::mark::Mark;
use crate::page::numbers;

/// The measures in columns of their own.
pub(crate) const MEASURES: [&str; 4] = ["available", "p50", "p99", "messages"];

/// The measures of a cell, in the order of [`MEASURES`]; the sign for what does not apply where nothing was measured.
pub(crate) fn measures(metrics: &Metrics) -> [String; 4] {
    let latency = |percent| metrics.latency.percentile(percent).map(numbers::span);
    let measures = [
        availability(metrics).map(numbers::percent),
        latency(50),
        latency(99),
        messages_per_acquire(metrics).map(|messages| format!("{messages:.1}")),
    ];
    measures.map(|measure| measure.unwrap_or_else(|| Mark::NotApplicable.sign().to_owned()))
}

/// The share of the time in which the lock was wanted and not blocked.
pub(crate) fn availability(metrics: &Metrics) -> Option<f64> {
    let Metrics { blocked_ns, wanted_ns, .. } = *metrics;
    (wanted_ns > 0).then(|| 1.0 - blocked_ns.min(wanted_ns) as f64 / wanted_ns as f64)
}

/// Messages to the store for each grant.
pub(crate) fn messages_per_acquire(metrics: &Metrics) -> Option<f64> {
    (metrics.granted > 0).then(|| metrics.acquire_messages as f64 / metrics.granted as f64)
}
