//! Measurements of benches that take turns: how long something takes, and the usual one among many values.

use std::time::Duration;

/// How long it takes to do something that may read the time spent so far.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what is measured here is the machine's time"
)]
pub(crate) fn time(act: impl FnOnce(&dyn Fn() -> Duration)) -> Duration {
    let start = std::time::Instant::now();
    act(&|| start.elapsed());
    start.elapsed()
}

/// The middle one of some values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
