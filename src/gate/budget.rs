//! How long a gate may go on beginning runs.
//!
//! Time of the machine, which no run reads: what is run within a budget differs from machine to machine, and each run does not.

#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a budget is time of the machine")]

use std::time::{Duration, Instant};

/// When to begin no more runs; shared out among what is to be run.
pub(super) struct Budget {
    end: Option<Instant>,
    /// What has not had its share yet.
    parts: u32,
}

impl Budget {
    /// So much time, or no limit, for so many parts.
    pub(super) fn new(time: Option<Duration>, parts: usize) -> Budget {
        let end = time.and_then(|time| Instant::now().checked_add(time));
        Budget { end, parts: u32::try_from(parts).unwrap_or(u32::MAX) }
    }

    /// The share of the next part: what others have left over is shared by those that follow.
    pub(super) fn share(&mut self) -> Share {
        let parts = self.parts.max(1);
        self.parts = parts - 1;
        let until = self.end.map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now) / parts
        });
        Share { until }
    }
}

/// The time of one part.
#[derive(Clone, Copy)]
pub(super) struct Share {
    until: Option<Instant>,
}

impl Share {
    pub(super) fn is_over(self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_share_and_the_last_one_all_that_is_left() {
        let hour = Duration::from_secs(3_600);
        let mut budget = Budget::new(Some(hour), 4);
        let until = |share: Share| share.until.unwrap().saturating_duration_since(Instant::now());
        let first = until(budget.share());
        assert!(first <= hour / 4 && first > hour / 5, "{first:?}");
        // Nobody used any of it, so the next three share all.
        let second = until(budget.share());
        assert!(second <= hour / 3 && second > hour / 4, "{second:?}");
        budget.share();
        assert!(until(budget.share()) > hour / 2);
    }

    #[test]
    fn without_a_budget_nothing_is_ever_over() {
        assert!(!Budget::new(None, 3).share().is_over());
        assert!(Budget::new(Some(Duration::ZERO), 3).share().is_over());
    }
}
