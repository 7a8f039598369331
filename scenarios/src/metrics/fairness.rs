//! I12, fairness, which is measured and not judged: how often a waiter is passed by.
//!
//! A waiter is *bypassed* by a grant of its key to a section that asked later than it did and was served before it. The
//! share of each waiter's wait is in the latencies of acquires; this tells whether the others were simply faster.

use crate::history::History;

/// How often waiters were passed by: in all, and the one that was most often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bypasses {
    pub(super) total: u64,
    pub(super) most: u64,
}

pub(super) fn of(history: &History<'_>) -> Bypasses {
    let mut bypasses = Bypasses::default();
    for waiter in &history.sections {
        let Some(asked) = waiter.asked else { continue };
        let until = waiter.answered.map_or(history.trace.end, |event| event.at);
        let passes = history.grants().filter(|(section, grant)| {
            section.key == waiter.key
                && section.id != waiter.id
                && section.asked.is_some_and(|later| (later.at, later.id) > (asked.at, asked.id))
                && grant.acquired.at < until
        });
        let count = passes.count() as u64;
        bypasses.total += count;
        bypasses.most = bypasses.most.max(count);
    }
    bypasses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    fn bypasses(script: Script) -> (u64, u64) {
        let trace = script.trace();
        let Bypasses { total, most } = of(&History::of(&trace));
        (total, most)
    }

    #[test]
    fn who_is_served_in_the_order_of_asking_is_not_bypassed() {
        let script = Script::new().at(0).waits(A1).at(1).waits(B1).at(2).acquires(A1).at(5).released(A1);
        assert_eq!(bypasses(script.at(6).acquires(B1)), (0, 0));
    }

    #[test]
    fn every_later_section_that_is_served_first_counts() {
        let script = Script::new().at(0).waits(A1).at(1).waits(B1).acquires(B1).at(2).released(B1);
        let script = script.at(3).waits(C1).at(4).acquires(C1).at(5).released(C1);
        assert_eq!(bypasses(script.at(9).acquires(A1)), (2, 2));
        let never = Script::new().at(0).waits(A1).at(1).waits(B1).acquires(B1);
        assert_eq!(bypasses(never), (1, 1), "a wait that never ends counts up to the end");
    }

    #[test]
    fn other_keys_do_not_count() {
        let script = Script::new().at(0).waits(A1).on("other").at(1).waits(B1).acquires(B1);
        assert_eq!(bypasses(script), (0, 0));
    }
}
