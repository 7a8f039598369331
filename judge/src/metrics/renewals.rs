//! The cost of renewal: how many leases stores extended, and how many at once. Where records depend on sessions, the sessions'.

use std::time::Duration;

use picklock_model::time::TrueTime;
use picklock_model::trace::What;

use crate::history::History;

/// The window in which a peak is counted.
const WINDOW: Duration = Duration::from_millis(10);

/// The renewals of a run: all, and the most within ten milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Renewals {
    pub(super) total: u64,
    pub(super) peak: u64,
}

pub(super) fn of(history: &History<'_>) -> Renewals {
    let touches = history.touches.iter().map(|touch| touch.event);
    let extensions = touches.filter(|event| matches!(event.what, What::Extended { .. }));
    let mut times: Vec<TrueTime> = extensions
        .chain(history.heartbeats.iter().copied())
        .filter(|event| {
            // A lease that is set while the client still asks belongs to the acquire.
            let section = event.grant.and_then(|id| history.place_of(id));
            let grant = section.and_then(|at| history.sections[at].grant.as_ref());
            grant.is_some_and(|grant| event.at >= grant.acquired.at)
        })
        .map(|event| event.at)
        .collect();
    times.sort_unstable();
    let mut peak = 0;
    let mut from = 0;
    for (until, at) in times.iter().enumerate() {
        while at.since(times[from]) >= WINDOW {
            from += 1;
        }
        peak = peak.max(1 + until - from);
    }
    Renewals { total: times.len() as u64, peak: peak as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn renewals_are_counted_after_the_grant_and_the_peak_within_ten_milliseconds() {
        let script = Script::new().at(0).waits(A1).creates(A1, NODE_1).extends(A1, NODE_1).at(1).acquires(A1);
        let script = script.at(30).extends(A1, NODE_1).at(39).extends(A1, NODE_1).at(40).extends(A1, NODE_1);
        let trace = script.trace();
        assert_eq!(of(&History::of(&trace)), Renewals { total: 3, peak: 2 });
    }

    #[test]
    fn a_session_that_a_record_depends_on_is_renewed_once_for_all() {
        let script =
            Script::new().in_sessions().at(0).waits(A1).on("session:a").creates(A1, NODE_1).on("stock");
        let script = script.creates(A1, NODE_1).at(1).acquires(A1).at(30).on("session:a").extends(A1, NODE_1);
        let trace = script.at(60).creates(A1, NODE_1).on("other").extends(A1, NODE_1).trace();
        assert_eq!(of(&History::of(&trace)), Renewals { total: 2, peak: 1 });
    }
}
