//! The cost of a dead holder: the time from its crash, while others wait, until one of them is granted.

use picklock_model::time::nanos;
use picklock_model::trace::What;

use crate::history::History;

/// The holders that died, and the time that others lost by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waste {
    pub(super) deaths: u64,
    pub(super) ns: u64,
}

pub(super) fn of(history: &History<'_>) -> Waste {
    let mut waste = Waste::default();
    for (section, grant) in history.grants() {
        let crash = grant.let_go.filter(|event| matches!(event.what, What::Crashed { .. }));
        let Some(crash) = crash else { continue };
        waste.deaths += 1;
        let others = || history.sections.iter().filter(|other| other.key == section.key);
        let next = others()
            .filter_map(|other| other.grant.as_ref())
            .map(|other| other.acquired.at)
            .filter(|at| *at > crash.at)
            .min();
        let until = next.unwrap_or(history.trace.end);
        // From when on somebody waited for it.
        let waited = others()
            .filter(|other| other.answered.is_none_or(|event| event.at > crash.at))
            .filter_map(|other| other.asked)
            .map(|event| event.at.max(crash.at))
            .min();
        waste.ns += waited.map_or(0, |from| nanos(until.since(from)));
    }
    waste
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    fn waste(script: Script) -> (u64, u64) {
        let trace = script.trace();
        let Waste { deaths, ns } = of(&History::of(&trace));
        (deaths, ns / 1_000_000)
    }

    #[test]
    fn the_wait_behind_a_dead_holder_is_wasted_up_to_the_next_grant_or_the_end() {
        let died = || Script::new().at(0).waits(A1).acquires(A1).at(100).crashes(CLIENT_1);
        assert_eq!(waste(died().at(50).waits(B1).at(400).acquires(B1)), (1, 300));
        assert_eq!(waste(died().at(150).waits(B1)), (1, 850));
        assert_eq!(waste(died()), (1, 0), "nobody waits");
    }
}
