//! The budget of reducing and confirming. It is time of the machine, which no run reads: what is reduced only in part when it
//! is over is a run like any other, with a digest of its own and a line that makes it again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use picklock_model::time::nanos;

#[expect(clippy::disallowed_types, reason = "a budget is time of the machine; no run reads it")]
type Moment = std::time::Instant;

/// The time that is left for a long task. A run that would not end in it, judged by the longest run so far, is not started.
#[derive(Debug, Default)]
pub struct Patience {
    /// When it ends; never if absent.
    deadline: Option<Moment>,
    /// The duration of the longest run, in nanoseconds.
    longest_ns: AtomicU64,
    /// The time was over when it was read: something was left out.
    lost: AtomicBool,
}

impl Patience {
    /// This budget from now on; without an end if absent.
    #[must_use]
    pub fn of(budget: Option<Duration>) -> Patience {
        let deadline = budget.and_then(|budget| now().checked_add(budget));
        Patience { deadline, ..Patience::default() }
    }

    /// The same without the time for this number of runs at its end.
    #[must_use]
    pub fn without(&self, runs: u32) -> Patience {
        let kept = self.longest().saturating_mul(runs);
        let deadline = self.deadline.map(|deadline| deadline.checked_sub(kept).unwrap_or_else(now));
        let longest_ns = AtomicU64::new(self.longest_ns.load(Ordering::Relaxed));
        Patience { deadline, longest_ns, lost: AtomicBool::new(false) }
    }

    /// True if there is no time for another run. The caller leaves something out then.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let over = !self.affords(1);
        self.lost.fetch_or(over, Ordering::Relaxed);
        over
    }

    /// True if there is time for this number of runs.
    #[must_use]
    pub fn affords(&self, runs: u32) -> bool {
        let end = |deadline: Moment| deadline > now() + self.longest().saturating_mul(runs);
        self.deadline.is_none_or(end)
    }

    /// The result of a run, whose duration is noted; `None` if there is no time for it.
    pub fn run<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.is_over() {
            return None;
        }
        let began = now();
        let result = run();
        self.longest_ns.fetch_max(nanos(now() - began), Ordering::Relaxed);
        Some(result)
    }

    /// True if something was left out because the time was over.
    #[must_use]
    pub fn was_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed))
    }
}

#[expect(clippy::disallowed_methods, reason = "a budget is time of the machine")]
fn now() -> Moment {
    Moment::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_lost_when_somebody_asks_after_its_end() {
        let (endless, short) = (Patience::of(None), Patience::of(Some(Duration::ZERO)));
        assert!(!endless.is_over() && !endless.was_lost());
        assert!(!short.was_lost());
        assert!(short.is_over() && short.was_lost());
    }

    #[test]
    fn a_run_that_would_exceed_it_is_not_started() {
        let patience = Patience::of(Some(Duration::from_secs(60)));
        assert_eq!(patience.run(|| 1), Some(1));
        assert!(patience.affords(100));
        patience.longest_ns.store(nanos(Duration::from_secs(40)), Ordering::Relaxed);
        assert!(patience.affords(1) && !patience.affords(2) && !patience.was_lost());
        assert_eq!(patience.run(|| 2), Some(2));
        let rest = patience.without(1);
        assert_eq!(rest.run(|| 3), None);
        assert!(rest.was_lost() && !patience.was_lost());
    }
}
