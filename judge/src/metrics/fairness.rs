//! I12, fairness, which is measured and not judged: how often a waiter is passed by.
//!
//! A waiter is *bypassed* by a grant of its key to a section that asked later than it did and was served before it. The
//! share of each waiter's wait is in the latencies of acquires; this shows if the others were simply faster.

use picklock_model::time::TrueTime;

use crate::history::{History, Section};

/// How often waiters were passed by: in all, and the one that was most often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bypasses {
    pub(super) total: u64,
    pub(super) most: u64,
}

pub(super) fn of(history: &History<'_>) -> Bypasses {
    let mut bypasses = Bypasses::default();
    for waits in waits(history).chunk_by(|one, other| one.key == other.key).filter(|waits| waits.len() > 1) {
        let mut served: Vec<(TrueTime, usize)> =
            waits.iter().enumerate().filter_map(|(place, wait)| Some((wait.served?, place))).collect();
        served.sort_unstable();
        let mut leaving: Vec<(TrueTime, usize)> =
            waits.iter().enumerate().map(|(place, wait)| (wait.until, place)).collect();
        leaving.sort_unstable();
        // In the order of leaving, each waiter counts who has been served by then and stands behind it.
        let mut served = served.into_iter().peekable();
        let mut behind = Behind::of(waits.len());
        for (until, place) in leaving {
            while let Some((_, later)) = served.next_if(|(at, _)| *at < until) {
                behind.enter(later);
            }
            let count = behind.count(place);
            bypasses.total += count;
            bypasses.most = bypasses.most.max(count);
        }
    }
    bypasses
}

/// A wait for a key.
struct Wait {
    key: usize,
    until: TrueTime,
    served: Option<TrueTime>,
}

/// All waits, those for the same key together and in the order of asking.
fn waits(history: &History<'_>) -> Vec<Wait> {
    let asked = |section: &&Section<'_>| section.asked.is_some();
    let mut sections: Vec<&Section<'_>> = history.sections.iter().filter(asked).collect();
    sections.sort_by_key(|section| (section.key, section.asked.map(|event| (event.at, event.id))));
    let wait = |section: &Section<'_>| Wait {
        key: section.key,
        until: section.answered.map_or(history.trace.end, |event| event.at),
        served: section.grant.as_ref().map(|grant| grant.acquired.at),
    };
    sections.into_iter().map(wait).collect()
}

/// Counts how many of those that have entered stand behind a place: a Fenwick tree, so that neither entering nor counting
/// looks at all of them.
struct Behind(Vec<u64>);

impl Behind {
    fn of(places: usize) -> Behind {
        Behind(vec![0; places + 1])
    }

    fn enter(&mut self, mut place: usize) {
        while place > 0 {
            self.0[place] += 1;
            place &= place - 1;
        }
    }

    fn count(&self, place: usize) -> u64 {
        let mut at = place + 1;
        let mut count = 0;
        while at < self.0.len() {
            count += self.0[at];
            at += at & at.wrapping_neg();
        }
        count
    }
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
    fn all_that_enter_behind_a_place_are_counted() {
        let mut behind = Behind::of(9);
        [8, 0, 3, 5, 5].into_iter().for_each(|place| behind.enter(place));
        assert_eq!([0, 2, 3, 4, 5, 7, 8].map(|place| behind.count(place)), [4, 4, 3, 3, 1, 1, 0]);
    }

    #[test]
    fn other_keys_do_not_count() {
        let script = Script::new().at(0).waits(A1).on("other").at(1).waits(B1).acquires(B1);
        assert_eq!(bypasses(script), (0, 0));
    }
}
