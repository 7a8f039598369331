//! The failover of a database: what of a lock and of its data is left.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "database-failover",
    claim: "a lock in the database is as safe as the database: a failover loses lock and data together, or neither",
    source: "article 3; PostgreSQL 15 documentation, 27.2.8 Synchronous Replication, 27.3 Failover",
    measure,
};

const RUNS: u64 = 300;

/// The settings of the store: in words, and as they are set.
const STORES: [(&str, &[&str]); 4] = [
    ("asynchronous, the old primary goes on", &[]),
    ("asynchronous, the old primary is fenced", &["fenced=yes"]),
    ("synchronous, the old primary goes on", &["synchronous_commit=on"]),
    ("synchronous, the old primary is fenced", &["synchronous_commit=on", "fenced=yes"]),
];

const DESIGNS: [&str; 4] = ["row-lock", "optimistic-row", "row-lock-outside", "advisory"];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let (mut stale_rows, mut lost_synchronous, mut lost_outside) = (0, 0, u64::MAX);
    for (store, settings) in STORES {
        for design in DESIGNS {
            let cell = lab.cell(design, "failover", settings, RUNS)?;
            let harmed = |invariant: &str| violating(&cell, invariant);
            let (stale, lost) = (harmed("effective-exclusion"), harmed("no-lost-update"));
            if ["row-lock", "optimistic-row"].contains(&design) {
                stale_rows += stale;
                lost_synchronous += if settings.contains(&"synchronous_commit=on") { lost } else { 0 };
            } else {
                lost_outside = lost_outside.min(lost);
            }
            rows.push(vec![
                store.to_owned(),
                design.to_owned(),
                format!("{stale} of {}", cell.runs),
                format!("{lost} of {}", cell.runs),
                format!("{} of {}", harmed("progress"), cell.runs),
            ]);
        }
    }
    let as_expected = stale_rows == 0 && lost_synchronous == 0 && lost_outside > 0;
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "it holds where the data change in the transaction that holds the lock, and with a synchronous standby no acknowledged change is \
                  lost. Without one the last commits are lost together with the lock; and where nobody stops the old primary, clients go \
                  back to it when it returns, and all that they do there is lost, or with a synchronous standby waits for ever. A lock whose \
                  data lie elsewhere is lost in any case: row locks and advisory locks are never replicated."
            .to_owned(),
        figures: vec![Figures {
            title: "the primary dies or is cut off, and its standby is promoted".to_owned(),
            head: vec!["the store", "design", "runs with a stale write", "runs that lost an update", "runs that got stuck"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design row-lock,optimistic-row,row-lock-outside,advisory --scenario failover --set synchronous_commit=on \
             --set fenced=yes --seeds 300"
                .to_owned(),
        ],
    })
}
