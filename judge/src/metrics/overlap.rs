//! The time with two holders: each overlap by itself, and from the first to the last of a run, which is as long as
//! whatever keeps the lock's two halves apart. Beside it stands the length of the fault, which one compares it with.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::{TrueTime, nanos};
use picklock_model::trace::{Trace, What};

use crate::history::History;
use crate::outcome::Finding;

/// The overlaps of a run, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlaps {
    /// Of all pairs, summed.
    pub(crate) total: u64,
    /// The widest.
    pub(crate) widest: u64,
    /// From the beginning of the first to the end of the last.
    pub(crate) window: u64,
    /// How long the longest of the run's faults lasted; 0 if none overlapped or no fault lasts.
    pub(crate) fault: u64,
}

/// The overlaps that mutual exclusion has found: each with its width, and the later of its grants named second.
pub(crate) fn of(history: &History<'_>, found: &[Finding]) -> Overlaps {
    let mut overlaps = Overlaps::default();
    let mut window: Option<(TrueTime, TrueTime)> = None;
    for finding in found {
        let Some((from, width)) = began(history, finding).zip(finding.width) else { continue };
        overlaps.total = overlaps.total.saturating_add(nanos(width));
        overlaps.widest = overlaps.widest.max(nanos(width));
        let until = from + width;
        window = Some(window.map_or((from, until), |(first, last)| (first.min(from), last.max(until))));
    }
    if let Some((first, last)) = window {
        overlaps.window = nanos(last.since(first));
        overlaps.fault = nanos(longest_fault(history.trace));
    }
    overlaps
}

/// When two beliefs began to overlap: as the later one began.
fn began(history: &History<'_>, finding: &Finding) -> Option<TrueTime> {
    let section = history.place_of(*finding.grants.last()?)?;
    Some(history.sections[section].grant.as_ref()?.acquired.at)
}

/// How long the longest of the faults that last was in force.
fn longest_fault(trace: &Trace) -> Duration {
    let mut begun = BTreeMap::new();
    let mut longest = Duration::ZERO;
    for event in &trace.events {
        match event.what {
            What::Injected { injection, .. } => drop(begun.entry(injection).or_insert(event.at)),
            What::Healed { injection } => {
                let from = begun.get(&injection).copied().unwrap_or(event.at);
                longest = longest.max(event.at.since(from));
            }
            _ => {}
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::mutual_exclusion;
    use crate::invariants::testing::*;
    use crate::outcome::Outcome;

    fn overlaps(script: Script) -> Overlaps {
        let trace = script.trace();
        let history = History::of(&trace);
        match (mutual_exclusion::INVARIANT.check)(&history) {
            Outcome::Violated(found) => of(&history, &found),
            _ => of(&history, &[]),
        }
    }

    #[test]
    fn the_window_reaches_from_the_first_overlap_to_the_end_of_the_last() {
        let injected = injected(0);
        let healed = What::Healed { injection: 0 };
        let script = Script::new().at(10).event(CLIENT_1, None, injected).held(A1, 0, 50).held(B1, 30, 60);
        let script = script.held(A2, 200, 300).held(C1, 290, 400).at(350).event(CLIENT_1, None, healed);
        let ms = |ms: u64| ms * 1_000_000;
        let expected = Overlaps { total: ms(30), widest: ms(20), window: ms(270), fault: ms(340) };
        assert_eq!(overlaps(script), expected);
    }

    #[test]
    fn without_an_overlap_there_is_nothing_to_compare_with() {
        assert_eq!(overlaps(Script::new().held(A1, 0, 50).held(B1, 60, 90)), Overlaps::default());
    }
}
