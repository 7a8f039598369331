//! The parts of a campaign that depend on the machine's time: its early end, and how often the journal is written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The reasons for a campaign to make no more runs: interrupted, out of time, or satisfied.
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

/// How often a thread keeps what it has done.
const KEPT_EVERY: Duration = Duration::from_millis(500);

/// When a thread has done enough to be kept.
pub(crate) struct Pace {
    #[expect(clippy::disallowed_types, reason = "it is the disk that is spared; no run reads it")]
    last: std::time::Instant,
}

impl Default for Pace {
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "no run reads it")]
    fn default() -> Pace {
        Pace { last: std::time::Instant::now() }
    }
}

impl Pace {
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "no run reads it")]
    pub(crate) fn is_due(&mut self) -> bool {
        let now = std::time::Instant::now();
        let due = now.duration_since(self.last) >= KEPT_EVERY;
        if due {
            self.last = now;
        }
        due
    }
}
