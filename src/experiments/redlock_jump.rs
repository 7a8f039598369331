//! Wall clocks of the stores of a Redlock that jump ahead, and how much earlier the lock can be granted again.

use std::time::Duration;

use super::lab::{Lab, LabError, ms, widest};
use super::{Experiment, Figures, Line, Measured, Plot, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "redlock-jump",
    claim: "a clock that jumps on a store ends its lease early, and lets a second client in",
    source: "Kleppmann 2016; Sanfilippo 2016: clocks must not jump",
    measure,
};

const RUNS: u64 = 10;
/// How far clocks jump, in tenths of a lease.
const JUMPS: [u64; 7] = [1, 2, 4, 6, 8, 10, 12];
/// How many stores hold the lock, and how many of them jump.
const CASES: [(u64, u64); 3] = [(3, 1), (5, 3), (5, 2)];
/// Soon after the grant; and the others ask soon.
const OTHERS: [&str; 3] = ["after=0.1 x ttl..0.1 x ttl", "head_start=0.2 x ttl", "first_work=0.95 x ttl"];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let name = |(held, stepped): (u64, u64)| format!("{stepped} of {held} that hold it");
    let mut lines = CASES.map(|case| Line { name: name(case), points: Vec::new() });
    let (mut rows, mut as_expected) = (Vec::new(), true);
    for tenths in JUMPS {
        let jump = format!("{}.{} x ttl", tenths / 10, tenths % 10);
        let mut row = vec![jump.replace(" x ttl", " leases")];
        for ((held, stepped), line) in CASES.into_iter().zip(&mut lines) {
            let own = [format!("held={held}"), format!("stepped={stepped}"), format!("by={jump}..{jump}")];
            let settings: Vec<&str> = OTHERS.into_iter().chain(own.iter().map(String::as_str)).collect();
            let mut gap = Duration::ZERO;
            for seed in 0..RUNS {
                let run = lab.run("redlock", "clock-step", &settings, seed)?;
                gap = gap.max(widest(&run, "honest-validity"));
            }
            as_expected &= gap.is_zero() == ((held, stepped) == (5, 2));
            line.points.push((tenths as f64 / 10.0, gap.as_secs_f64() * 1e3));
            row.push(format!("{} ms", ms(gap)));
        }
        rows.push(row);
    }
    let heads = ["jump ahead", "3 hold it, 1 jumps", "5 hold it, 3 jump", "5 hold it, 2 jump"];
    Ok(Measured {
        verdict: if as_expected { Verdict::Confirmed } else { Verdict::Refuted },
        because: "Redis ends leases by its wall clock, so that a lease ends as much earlier as the clock jumps, and the margin for \
                  drift covers the first hundredth of it. It takes as many stores as the lock has to spare, and one more: one if \
                  just three of five hold it, three if all do. A jump beyond the rest of the lease frees it at once."
            .to_owned(),
        figures: vec![Figures {
            title: "a lease of a second; another client could be granted the lock so long before the deadline of the holder, at most"
                .to_owned(),
            head: heads.to_vec(),
            rows,
        }],
        plot: Some(Plot {
            title: "A lease ends as much too early as the clocks of enough stores jump".to_owned(),
            across: "the clocks jump ahead by, in leases of a second",
            up: "granted again before the holder’s deadline by, ms",
            lines: lines.into(),
        }),
        replays: vec![
            "picklock run --design redlock --scenario clock-step --set held=3 --set stepped=1 --set 'by=0.4 x ttl..0.4 x ttl' \
             --seeds 10"
                .to_owned(),
        ],
    })
}
