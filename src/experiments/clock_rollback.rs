//! The claim that a wall clock that is set back breaks Redlock: on a client, on a node.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "clock-rollback",
    claim: "a wall-clock rollback breaks Redlock",
    source: "article 1; Kleppmann 2016 and Sanfilippo 2016 argue about it",
    measure,
};

const RUNS: u64 = 500;
/// Work that outlasts the lease, so that a holder who does not notice its deadline overlaps with the next one.
const LONG: &str = "first_work=1.2 x ttl..1.6 x ttl";

/// Soon enough that it meets short sections too.
const SOON: &str = "after=0.02 x ttl..0.1 x ttl";

/// The cases: the clock that jumps, and how.
const CASES: [(&str, &str, &[&str]); 6] = [
    ("redlock", "one client, back", &["who=clients", "way=backwards", SOON, LONG]),
    ("redlock{clock=wall}", "one client, back", &["who=clients", "way=backwards", SOON, LONG]),
    ("redlock{clock=wall}", "one client, forwards", &["who=clients", "way=forwards", SOON, LONG]),
    ("redlock", "a majority of the nodes, back", &["who=nodes", "way=backwards"]),
    ("redlock", "a minority of the nodes, forwards", &["who=nodes", "way=forwards", "stepped=2"]),
    ("redlock", "a majority of the nodes, forwards", &["who=nodes", "way=forwards"]),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for (design, clock, settings) in CASES {
        let cell = lab.cell(design, "clock-step", settings, RUNS)?;
        let holders = violating(&cell, "mutual-exclusion");
        broken.push(holders > 0);
        rows.push(vec![
            design.to_owned(),
            clock.to_owned(),
            format!("{holders} of {}", cell.runs),
            cell.took_effect.values().sum::<u64>().to_string(),
        ]);
    }
    let as_expected = broken == [false, true, false, false, false, true];
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "a rollback breaks it only on a client that keeps its deadline on the wall clock; one with a \
                  monotonic clock does not notice. On nodes a rollback lengthens leases and costs waiting, not safety. \
                  What breaks Redlock on nodes is the opposite: a jump forwards on a majority of those that hold the \
                  lock, which frees it early."
            .to_owned(),
        figures: vec![Figures {
            title: "runs with two holders at the same time; jumps of 1.1 to 3 leases while a section works".to_owned(),
            head: vec!["design", "whose wall clock jumps", "runs with two holders", "runs in which it mattered"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock run --design 'redlock{clock=wall}' --scenario clock-step --set who=clients \
             --set way=backwards --set 'after=0.02 x ttl..0.1 x ttl' --set 'first_work=1.2 x ttl..1.6 x ttl' \
             --seeds 500"
                .to_owned(),
            "picklock run --design redlock --scenario clock-step --seeds 500".to_owned(),
        ],
    })
}
