//! The lock of a database row beside a lease: what it saves, and what it costs.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "row-lock-cost",
    claim: "a database row lock is the simple alternative to a lock in Redis",
    source: "article 3; PostgreSQL 15 documentation, 13.3.2",
    measure,
};

const RUNS: u64 = 300;

/// What befalls the holder: in words, the scenario, and its settings.
const CASES: [(&str, &str, &[&str]); 5] = [
    ("works for longer than a lease", "long-work", &[]),
    ("stands still", "pause", &[]),
    ("is killed", "client-crash", &["power_loss=no", "horizon=12 x ttl"]),
    ("loses its power", "client-crash", &["power_loss=yes", "horizon=12 x ttl"]),
    ("loses its connection in a firewall", "lost-connection", &["how=forgotten", "horizon=12 x ttl"]),
];

const DESIGNS: [&str; 4] = ["row-lock", "row-lock{keepalive=short}", "lease-row{time=now}", "single"];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let (mut harmed_rows, mut harmed_leases) = (0, 0);
    for (what, scenario, settings) in CASES {
        for design in DESIGNS {
            let cell = lab.cell(design, scenario, settings, RUNS)?;
            let harmed = violating(&cell, "no-lost-update");
            let which = if design.starts_with("row-lock") { &mut harmed_rows } else { &mut harmed_leases };
            *which += harmed;
            let metrics = &cell.metrics;
            let wait = |percent| metrics.latency.percentile(percent).unwrap_or_default().as_secs_f64();
            rows.push(vec![
                what.to_owned(),
                design.to_owned(),
                format!("{harmed} of {}", cell.runs),
                format!("{:.1} s", wait(99)),
                format!("{} of {}", metrics.granted, metrics.asked),
            ]);
        }
    }
    let as_expected = harmed_rows == 0 && harmed_leases > 0;
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "no update is ever lost, because the change commits with the lock, and the price is waiting: for as long as the holder \
                  works or stands still. A killed holder is noticed at once. One without power is not, nor one whose connection a firewall has \
                  forgotten: at PostgreSQL's defaults the others wait for 7875 s, and with `tcp_keepalives_*` of a second each for two. A lease ends the wait of the others, and the \
                  exclusion with it."
            .to_owned(),
        figures: vec![Figures {
            title: "a lease of a second; the row lock has none".to_owned(),
            head: vec!["the holder", "design", "runs that lost an update", "wait, p99", "granted, of all that asked"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design 'row-lock,row-lock{keepalive=short},lease-row{time=now},single' --scenario client-crash \
             --set power_loss=yes --set 'horizon=12 x ttl' --seeds 300"
                .to_owned(),
        ],
    })
}
