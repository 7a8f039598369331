//! The budget of reducing and confirming. It is time of the machine, which no run reads: what is reduced only in part when it
//! is over is a run like any other, with a digest of its own and a line that makes it again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time that is left for something that could go on for long.
#[derive(Debug, Default)]
pub struct Patience {
    /// When it ends; never if absent.
    #[expect(clippy::disallowed_types, reason = "a budget is time of the machine; no run reads it")]
    deadline: Option<std::time::Instant>,
    /// Somebody has asked after the end: something was left out.
    lost: AtomicBool,
}

impl Patience {
    /// For so long from now on; without an end if absent.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    pub fn of(budget: Option<Duration>) -> Patience {
        let deadline = budget.and_then(|budget| std::time::Instant::now().checked_add(budget));
        Patience { deadline, lost: AtomicBool::new(false) }
    }

    /// True if the time is over. The caller leaves something out then.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    pub fn is_over(&self) -> bool {
        let over = self.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline);
        self.lost.fetch_or(over, Ordering::Relaxed);
        over
    }

    /// True if something was left out because the time was over.
    #[must_use]
    pub fn was_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
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
}
