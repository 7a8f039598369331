//! Stores of a Redlock that restart without what they had in memory, and how long they must stay away.

use std::time::Duration;

use super::lab::{Lab, LabError, ms, widest};
use super::{Experiment, Figures, Line, Measured, Plot, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "redlock-restart",
    claim: "a store that forgets over a restart is harmless if it stays away for longer than a lease",
    source: "Redis documentation, Distributed locks: performance, crash recovery and fsync",
    measure,
};

const RUNS: u64 = 10;
/// For how long stores are away, in tenths of a lease.
const AWAY: [u64; 7] = [1, 2, 4, 6, 8, 10, 12];
const KEEPS: [(&str, &str); 2] = [("none", "it forgets"), ("always", "it keeps what it acknowledged")];
/// The others ask soon, so that they are there when the stores come back.
const OTHERS: [&str; 6] = [
    "held=all",
    "forgetting=quorum",
    "power_loss=no",
    "after=0ms..0ms",
    "head_start=0.1 x ttl",
    "first_work=0.95 x ttl",
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut lines = KEEPS.map(|(_, what)| Line { name: what.to_owned(), points: Vec::new() });
    let (mut rows, mut as_expected) = (Vec::new(), true);
    for tenths in AWAY {
        let away = format!("{}.{} x ttl", tenths / 10, tenths % 10);
        let mut row = vec![away.replace(" x ttl", " leases")];
        for ((keeps, _), line) in KEEPS.iter().zip(&mut lines) {
            let own = [format!("restart_after={away}..{away}"), format!("persistence={keeps}")];
            let settings: Vec<&str> = OTHERS.into_iter().chain(own.iter().map(String::as_str)).collect();
            let mut gap = Duration::ZERO;
            for seed in 0..RUNS {
                let run = lab.run("redlock", "node-restart", &settings, seed)?;
                gap = gap.max(widest(&run, "honest-validity"));
            }
            as_expected &= gap.is_zero() == (tenths >= 10 || *keeps == "always");
            line.points.push((tenths as f64 / 10.0, gap.as_secs_f64() * 1e3));
            row.push(format!("{} ms", ms(gap)));
        }
        rows.push(row);
    }
    Ok(Measured {
        verdict: if as_expected { Verdict::Confirmed } else { Verdict::Refuted },
        because: "what a store has forgotten does no harm once the last lease that it had granted has run out. A store that is back \
                  sooner grants the lock again that much before the holder stops. One that keeps what it acknowledged \
                  may come back at once."
            .to_owned(),
        figures: vec![Figures {
            title: "a lease of a second; three of five stores that hold the lock restart at once; another client could be granted it so \
                    long before the deadline of the holder, at most"
                .to_owned(),
            head: vec!["away for", "it forgets (no persistence)", "it keeps (appendfsync always)"],
            rows,
        }],
        plot: Some(Plot {
            title: "A restarted store grants again as much too early as it is back too early".to_owned(),
            across: "the store is away for, in leases of a second",
            up: "granted again before the holder’s deadline by, ms",
            lines: lines.into(),
        }),
        replays: vec![
            "picklock run --design redlock --scenario node-restart --set held=all --set 'restart_after=0.4 x ttl..0.4 x ttl' \
             --seeds 10"
                .to_owned(),
        ],
    })
}
