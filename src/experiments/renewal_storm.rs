//! A thousand locks taken at the same instant: how many are renewed at once.

use super::lab::{Lab, LabError};
use super::renewal_load::Load;
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "renewal-storm",
    claim: "a thousand locks taken at the same instant are renewed at the same instant, and jitter spreads the storm",
    source: "article 2",
    measure,
};

const CASES: [(&str, &str, &[&str]); 3] = [
    ("watchdog", "0ms", &[]),
    ("watchdog", "0 to 10 s", &["think=0ms..10s"]),
    ("watchdog{renewal=jittered}", "0ms", &[]),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut peaks = Vec::new();
    for (design, apart, settings) in CASES {
        let load = Load::of(&lab.run(design, "batch", settings, 0)?);
        peaks.push(load.peak);
        rows.push(vec![
            design.to_owned(),
            apart.to_owned(),
            format!("{:.1}", Load::per_second(load.requests)),
            load.peak.to_string(),
        ]);
    }
    let storm = peaks[0] > 900 && peaks[2] < 50;
    Ok(Measured {
        verdict: if storm { Verdict::Confirmed } else { Verdict::Refuted },
        because: "the storm comes back every interval, for as long as the locks are held, because every process waits \
                  for the same time. Jitter spreads it from the first renewal on; so do acquires that did not come \
                  together."
            .to_owned(),
        figures: vec![Figures {
            title: "a thousand locks, lease 30 s, from 5 s to 55 s after they were taken".to_owned(),
            head: vec!["design", "acquires apart by", "requests a second", "most requests in 10 ms"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design 'watchdog,watchdog{renewal=jittered}' --scenario batch --seeds 1".to_owned(),
        ],
    })
}
