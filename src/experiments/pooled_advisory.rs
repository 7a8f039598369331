//! Advisory locks behind a pooler, by the number of its connections.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "pooled-advisory",
    claim: "an advisory lock excludes others, whatever lies between client and server",
    source: "PostgreSQL 15 documentation, 13.3.5; pgbouncer's feature matrix; authentik issue 23876",
    measure,
};

const RUNS: u64 = 300;
const CLIENTS: &str = "clients=5";
const SIZES: [u32; 5] = [1, 2, 3, 5, 10];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut cases = vec![("none".to_owned(), "advisory".to_owned())];
    let pooled = |size: u32, pooling: &str| format!("advisory-pooled{{pool={size},pooling={pooling}}}");
    cases.extend(SIZES.map(|size| (format!("{size}, for a transaction"), pooled(size, "transaction"))));
    cases.push(("10, for a session".to_owned(), pooled(10, "session")));
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for (connections, design) in cases {
        let cell = lab.cell(&design, "calm", &[CLIENTS], RUNS)?;
        let of = |invariant| format!("{} of {}", violating(&cell, invariant), cell.runs);
        broken.push(violating(&cell, "mutual-exclusion") > 0);
        rows.push(vec![
            connections,
            of("mutual-exclusion"),
            of("no-lost-update"),
            of("truthful-answers"),
            of("progress"),
        ]);
    }
    let as_expected = broken == [false, true, true, true, true, true, false];
    Ok(Measured {
        verdict: if as_expected { Verdict::Refuted } else { Verdict::Conditional },
        because: "the lock is the session's, and behind a pooler that lends connections for a transaction the session is the pooler's. With one \
                  connection all have the lock at once, and nobody is ever blocked. With more, an unlock by another connection unlocks \
                  nothing, and the lock stays until the pooler closes its connection, after an hour. As many connections as clients do not help: the one \
                  that was used last is lent first. Only a connection for a whole session does."
            .to_owned(),
        figures: vec![Figures {
            title: "five clients, no fault at all".to_owned(),
            head: vec![
                "connections of the pooler",
                "two holders",
                "lost updates",
                "released, and still there",
                "blocked to the end",
            ],
            rows,
        }],
        plot: None,
        replays: vec!["picklock compare --design 'advisory,advisory-pooled{pool=1},advisory-pooled{pool=3}' --scenario calm --set clients=5 --seeds 300".to_owned()],
    })
}
