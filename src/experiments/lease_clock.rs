//! The lease of a row by the clocks of the clients, and by that of the database.

use super::lab::{Lab, LabError, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "lease-clock",
    claim: "with the clock of the database a lease in a row needs no synchronized clocks",
    source: "ShedLock's usingDbTime; ShedLock issue 231",
    measure,
};

const RUNS: u64 = 300;
const TIMES: [&str; 3] = ["application", "now", "clock-timestamp"];

/// Whose clock jumps: in words, and the setting.
const WHOSE: [(&str, &str); 2] = [("one client's", "who=clients"), ("the server's", "who=nodes")];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for (whose, setting) in WHOSE {
        for time in TIMES {
            let cell = lab.cell(&format!("lease-row{{time={time}}}"), "clock-step", &[setting], RUNS)?;
            let holders = violating(&cell, "mutual-exclusion");
            broken.push(holders > 0);
            rows.push(vec![whose.to_owned(), time.to_owned(), format!("{holders} of {}", cell.runs)]);
        }
    }
    let as_expected = broken == [true, false, false, false, true, true];
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "a client whose clock is ahead takes a lock that is held, if leases are reckoned by the clients. By the clock of the database the \
                  clients' do not matter, and a jump of that one clock ends every lease, with `now()` and with `clock_timestamp()` alike."
            .to_owned(),
        figures: vec![Figures {
            title: "jumps ahead by 1.1 to 3 leases while a section works".to_owned(),
            head: vec!["the clock that jumps", "the lease is reckoned by", "runs with two holders"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design 'lease-row,lease-row{time=now}' --scenario clock-step --set who=clients --seeds 300".to_owned(),
            "picklock compare --design 'lease-row,lease-row{time=now}' --scenario clock-step --seeds 300".to_owned(),
        ],
    })
}
