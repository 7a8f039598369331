//! The validity of Redlock: what is left of the lease when a majority has answered late.

use std::time::Duration;

use super::lab::{Lab, LabError, ms, overlap};
use super::redlock_example::{FREED, example};
use super::{Experiment, Figures, Line, Measured, Plot, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "redlock-validity",
    claim: "what may be relied on is the lease less the time that it took to acquire it, less the drift of the clocks",
    source: "Redis documentation, Distributed locks",
    measure,
};

/// By how much later than the first store the others are locked: a store that takes half a second is given up.
const LATE_MS: [u64; 6] = [0, 100, 200, 300, 400, 450];
/// The designs that subtract the time that it took, and those that do not.
const HOLDERS: [(&str, &str); 2] =
    [("redlock", "subtracted, as published"), ("redlock{belief=trusting}", "not subtracted")];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut lines = HOLDERS.map(|(_, what)| Line { name: what.to_owned(), points: Vec::new() });
    let mut rows = Vec::new();
    let mut as_expected = true;
    for late in LATE_MS {
        let mut row = vec![format!("{late} ms")];
        for ((design, _), line) in HOLDERS.iter().zip(&mut lines) {
            let mut width = Duration::ZERO;
            for nth in 0..12 {
                let plan = example(Duration::from_millis(late), nth * FREED / 12);
                width = width.max(overlap(&lab.staged(design, plan)?));
            }
            let honest = *design == "redlock";
            let expected = if honest { Duration::ZERO } else { Duration::from_millis(late) };
            as_expected &= width.abs_diff(expected) < Duration::from_millis(1);
            line.points.push((late as f64, width.as_secs_f64() * 1e3));
            row.push(format!("{} ms", ms(width)));
        }
        rows.push(row);
    }
    Ok(Measured {
        verdict: if as_expected { Verdict::Confirmed } else { Verdict::Refuted },
        because: "a holder that subtracts the time since before its first request has stopped before the first of its \
                  leases ends, however late the answers. One that counts from the last answer has company for as long \
                  as it took, to the millisecond in which stores count."
            .to_owned(),
        figures: vec![Figures {
            title: "five stores, of which three are locked, two of them later than the first; lease 10 s; two holders for"
                .to_owned(),
            head: vec!["later by", "the time is subtracted, as published", "it is not"],
            rows,
        }],
        plot: Some(Plot {
            title: "Two hold the lock for as long as was not subtracted".to_owned(),
            across: "the second and the third store are locked later by, ms",
            up: "two holders for, ms",
            lines: lines.into(),
        }),
        replays: Vec::new(),
    })
}
