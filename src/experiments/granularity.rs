//! The cost of a coarse key in waiting.

use super::lab::{Lab, LabError, ms, share};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "granularity",
    claim: "the finer the key (user, product, operation, everything), the less clients wait for each other",
    source: "articles 0 and 1",
    measure,
};

const RUNS: u64 = 100;

/// The meanings of a key, and the settings for them with eight clients.
const KEYS: [(&str, &[&str]); 4] = [
    ("everything: one key", &["keys=1"]),
    ("an operation: two keys", &["keys=2"]),
    ("a product: eight keys, drawn", &["keys=8"]),
    ("a user: a key of each client's own", &["keys=8", "assign=own"]),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut waits = Vec::new();
    for (name, settings) in KEYS {
        let metrics = lab.cell("single", "keys-global", settings, RUNS)?.metrics;
        let wait = |percent| metrics.latency.percentile(percent).unwrap_or_default();
        waits.push(wait(99));
        rows.push(vec![
            name.to_owned(),
            share(metrics.contended, metrics.asked),
            format!("{} ms", ms(wait(50))),
            format!("{} ms", ms(wait(99))),
            format!("{:.1}", metrics.acquire_messages as f64 / metrics.granted.max(1) as f64),
        ]);
    }
    let finer_is_faster = waits.windows(2).all(|pair| pair[0] >= pair[1]);
    Ok(Measured {
        verdict: if finer_is_faster { Verdict::Confirmed } else { Verdict::Refuted },
        because: "with eight clients the wait falls with every step towards a finer key, and with it the requests \
                  that a polling client makes in vain. A finer key guards less: it is right only if the invariant \
                  lives within one key."
            .to_owned(),
        figures: vec![Figures {
            title: "eight clients, four sections of 10 to 50 ms each; design `single`, polling".to_owned(),
            head: vec!["a key stands for", "sections that met", "wait, median", "wait, p99", "requests an acquire"],
            rows,
        }],
        plot: None,
        replays: vec!["picklock compare --design single --scenario keys-global --set keys=8 --seeds 100".to_owned()],
    })
}
