//! When a campaign ends before all of its runs are made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether a campaign should make no more runs: interrupted, out of time, or satisfied.
pub(crate) struct Over<'a> {
    #[expect(clippy::disallowed_types, reason = "a budget is time of the machine; no run reads it")]
    deadline: Option<std::time::Instant>,
    stop: &'a AtomicBool,
    satisfied: AtomicBool,
}

impl<'a> Over<'a> {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    pub(crate) fn new(budget: Option<Duration>, stop: &'a AtomicBool) -> Over<'a> {
        let deadline = budget.and_then(|budget| std::time::Instant::now().checked_add(budget));
        Over { deadline, stop, satisfied: AtomicBool::new(false) }
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    pub(crate) fn now(&self) -> bool {
        self.interrupted() || self.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.satisfied.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self) {
        self.satisfied.store(true, Ordering::Relaxed);
    }
}
