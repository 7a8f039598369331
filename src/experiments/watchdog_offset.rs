//! The claim that clocks that show different times do not break a watchdog, and clocks that run at different rates do.

use std::time::Duration;

use picklock_model::plan::{Action, Target};
use picklock_model::time::TrueTime;

use super::lab::{Lab, LabError, injected};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "watchdog-offset",
    claim: "a clock offset between client and server breaks the watchdog",
    source: "article 2",
    measure,
};

const RUNS: u64 = 200;
const DAY: i64 = 24 * 3_600 * 1_000_000_000;

/// A host, a millisecond, and what happens to its clocks then.
type Change = (&'static str, u64, Action);

/// The errors of the clocks.
const CASES: [(&str, &[Change]); 8] = [
    ("the client is a day ahead", &[("client-1", 1, Action::StepClock { by_ns: DAY })]),
    ("the client is a day behind", &[("client-1", 1, Action::StepClock { by_ns: -DAY })]),
    ("the server is a day ahead", &[("node-1", 1, Action::StepClock { by_ns: DAY })]),
    ("the server is a day behind", &[("node-1", 1, Action::StepClock { by_ns: -DAY })]),
    ("the server runs 1 in 1000 fast", &[("node-1", 1, Action::SetDrift { ppm: 1_000 })]),
    (
        "the server runs 2.8 times as fast as the client",
        &[CRAWLS, ("node-1", 1, Action::SetDrift { ppm: 400_000 })],
    ),
    (
        "the server runs 3 times as fast as the client",
        &[CRAWLS, ("node-1", 1, Action::SetDrift { ppm: 500_000 })],
    ),
    ("the server jumps a day ahead during the work", &[("node-1", 500, Action::StepClock { by_ns: DAY })]),
];

/// Half the rate.
const CRAWLS: Change = ("client-1", 1, Action::SetDrift { ppm: -500_000 });

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for (what, actions) in CASES {
        let mut violated = 0;
        for seed in 0..RUNS {
            let mut plan = lab.plan("watchdog", "long-work", &[], seed)?;
            plan.injections.extend(actions.iter().map(|(host, at_ms, action)| {
                let at = TrueTime(0) + Duration::from_millis(*at_ms);
                injected(at, Target::host(*host), action.clone())
            }));
            violated += u64::from(lab.staged("watchdog", plan)?.violates("mutual-exclusion"));
        }
        broken.push(violated > 0);
        rows.push(vec![what.to_owned(), format!("{violated} of {RUNS}")]);
    }
    let as_expected = broken == [false, false, false, false, false, false, true, true];
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "a constant offset does nothing: the client sends a duration, and the server counts it on its own \
                  clock. Rates matter only when the server's clock runs three times as fast as the client's, since a \
                  lease is renewed every third of it. A jump of the server's clock while the lock is held ends the \
                  lease at once."
            .to_owned(),
        figures: vec![Figures {
            title: "design `watchdog`, work of 1.2 to 2 leases, a lease of a second".to_owned(),
            head: vec!["clocks", "runs with two holders"],
            rows,
        }],
        plot: None,
        replays: vec!["picklock run --design watchdog --scenario clock-step --seeds 200".to_owned()],
    })
}
