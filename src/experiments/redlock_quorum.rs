//! The number of stores of a Redlock that must forget it, by the number that hold it.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Line, Measured, Plot, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "redlock-quorum",
    claim: "since a majority decides, two of five stores may forget the lock",
    source: "often said of Redlock; Kleppmann 2016 has an example to the contrary",
    measure,
};

const STORES: u64 = 5;
const MAJORITY: u64 = STORES / 2 + 1;
const RUNS: u64 = 10;

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let (mut lines, mut rows, mut as_expected) = (Vec::new(), Vec::new(), true);
    for held in MAJORITY..=STORES {
        let mut row = vec![held.to_string()];
        let mut points = Vec::new();
        for stepped in 1..=STORES {
            let settings = [format!("held={held}"), format!("stepped={stepped}")];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            let broken = violating(&lab.cell("redlock", "clock-step", &settings, RUNS)?, "mutual-exclusion");
            // The stores that can grant the next client: those that never had the lock, and those that forgot it.
            let free = STORES - held + stepped.min(held);
            as_expected &= broken == if free >= MAJORITY { RUNS } else { 0 };
            row.push(format!("{broken} of {RUNS}"));
            points.push((stepped as f64, broken as f64 * 100.0 / RUNS as f64));
        }
        rows.push(row);
        lines.push(Line { name: format!("{held} of {STORES} hold it"), points });
    }
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "only if all five hold the lock. The next client is granted it by those that forgot it and by those that \
                  never had it, so a lock that was granted by four has one to spare, and one that was granted by three has \
                  none: a single store that forgets makes a second holder. A store that is down grants nothing, and any \
                  two may be."
            .to_owned(),
        figures: vec![Figures {
            title: "runs with two holders, by how many stores hold the lock (down) and forget it (across)".to_owned(),
            head: vec!["held by", "1 forgets", "2 forget", "3 forget", "4 forget", "5 forget"],
            rows,
        }],
        plot: Some(Plot {
            title: "How many stores must forget depends on how many hold the lock".to_owned(),
            across: "stores that forget the lock",
            up: "runs with two holders, %",
            lines,
        }),
        replays: vec![
            "picklock run --design redlock --scenario clock-step --set held=3 --set stepped=1 --seeds 10".to_owned(),
        ],
    })
}
