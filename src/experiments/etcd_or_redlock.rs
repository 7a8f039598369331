//! etcd and Redlock under the same faults: who harms the data, and what brings it about.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "etcd-or-redlock",
    claim: "etcd is safer than Redlock",
    source: "article 3; Kleppmann, How to do distributed locking (2016); Jepsen, etcd 3.4.3 (2020)",
    measure,
};

const RUNS: u64 = 60;

const DESIGNS: [&str; 5] = ["redlock-naive", "redlock", "etcd-no-recheck", "etcd", "etcd-fenced"];

/// The same lease for all: the shortest that etcd grants.
const LEASE: &str = "ttl=2s";

/// Faults of a member or of its clock, and faults of the holder. A design on one store has no failover of independent ones.
const SCENARIOS: [(&str, bool); 6] = [
    ("failover", true),
    ("node-restart", true),
    ("clock-step", true),
    ("pause", false),
    ("suspend", false),
    ("client-partition", false),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let (mut etcd_by_members, mut etcd_by_holder, mut fenced, mut redlock_by_members) = (0, 0, 0, 0);
    for (scenario, is_members) in SCENARIOS {
        let mut row = vec![scenario.to_owned()];
        for design in DESIGNS {
            if scenario == "failover" && design.starts_with("redlock") {
                row.push("-".to_owned());
                continue;
            }
            let cell = lab.cell(design, scenario, &[LEASE], RUNS)?;
            let harmed = violating(&cell, "effective-exclusion").max(violating(&cell, "no-lost-update"));
            match (design, is_members) {
                ("etcd", true) => etcd_by_members += harmed,
                ("etcd", false) => etcd_by_holder += harmed,
                ("etcd-fenced", _) => fenced += harmed,
                ("redlock", true) => redlock_by_members += harmed,
                _ => {}
            }
            row.push(format!("{harmed} of {}", cell.runs));
        }
        rows.push(row);
    }
    let as_expected = etcd_by_members == 0 && fenced == 0 && etcd_by_holder > 0 && redlock_by_members > 0;
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "it is, as far as the store is to blame: no member that dies, comes back or has a wrong clock makes a second holder on etcd, while stores \
                  of Redlock that forget or whose clocks jump do. A holder that stands still, or is cut off, is not alone on either; only a token that \
                  the resource checks keeps its late write out. And the client counts as well: a waiter of etcd 3.4's mutex, which does not look at its own key again, is granted the \
                  lock without a lease where it stands still, or does not look at its session either (jepsen-etcd)."
            .to_owned(),
        figures: vec![Figures {
            title: "runs that harmed the data, all with a lease of 2 s".to_owned(),
            head: [&["scenario"], &DESIGNS[..]].concat(),
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design redlock,etcd,etcd-fenced,etcd-no-recheck --scenario node-restart,clock-step,pause --set ttl=2s --seeds 60"
                .to_owned(),
        ],
    })
}
