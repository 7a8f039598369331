//! Redlock with a budget of half the lease: how wide two beliefs can overlap, found by search.

use std::time::Duration;

use picklock_model::plan::{Action, Plan, Target};
use picklock_model::seed::{Seed, scale};

use super::lab::{Lab, LabError, ms, overlap};
use super::redlock_example::{FREED, LEASE, START, others, staged};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "budget-overlap",
    claim: "with half of the lease as the budget for asking all nodes, at least half of it is left to the holder",
    source: "article 4",
    measure,
};

/// The times that one of five stores may take to answer.
const SHARE: Duration = LEASE.checked_div(10).expect("ten is not zero");
/// The lengths of the search.
const STEPS: [u64; 4] = [10, 30, 100, 300];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let (mut rows, mut best, mut widest, mut tried) = (Vec::new(), start(), Duration::ZERO, 0);
    for until in STEPS {
        while tried < until {
            let candidate = if tried == 0 { best } else { vary(best, tried) };
            let width = overlap(&lab.staged("redlock-budget{belief=trusting}", delayed(candidate))?);
            if width >= widest {
                (best, widest) = (candidate, width);
            }
            tried += 1;
        }
        rows.push(vec![
            until.to_string(),
            format!("{} ms", ms(widest)),
            format!("{:.2}%", widest.as_secs_f64() * 200.0 / LEASE.as_secs_f64()),
        ]);
    }
    let honest = overlap(&lab.staged("redlock-budget{belief=honest}", delayed(best))?);
    rows.push(vec![
        "the same, an honest holder".to_owned(),
        format!("{} ms", ms(honest)),
        format!("{:.2}%", honest.as_secs_f64() * 200.0 / LEASE.as_secs_f64()),
    ]);
    let bounded = widest < LEASE / 2 && widest > LEASE * 45 / 100 && honest.is_zero();
    Ok(Measured {
        verdict: if bounded { Verdict::Conditional } else { Verdict::Refuted },
        because: "half of the lease is left, and a holder that counts the whole lease from the grant does not know \
                  that it is only half: two believe that they hold the lock for up to half a lease. The search comes \
                  near that bound and never reaches it. With a deadline from before the first request there is none."
            .to_owned(),
        figures: vec![Figures {
            title: format!(
                "lease {} s, five nodes; delays of the first holder's requests varied by chance, the wider kept",
                LEASE.as_secs()
            ),
            head: vec!["runs", "widest overlap", "of half a lease"],
            rows,
        }],
        plot: None,
        replays: Vec::new(),
    })
}

/// How late the reply of the first store is, and the requests to the second and the third.
type Delays = [Duration; 3];

fn start() -> Delays {
    [SHARE / 4; 3]
}

/// The delays with one of them drawn anew, within what a store may take to answer.
fn vary(mut delays: Delays, tried: u64) -> Delays {
    let draw = |what| Seed(1).at([tried, what, 0, 0]);
    let which = scale(draw(0), 3) as usize;
    delays[which] = Duration::from_micros(scale(draw(1), SHARE.as_micros() as u64));
    delays
}

/// The first client locks three stores, late, and never reaches the two others; the second asks when the first of these
/// three leases has run out.
fn delayed([reply, second, third]: Delays) -> Plan {
    let delay = |from: &str, to: &str, by| {
        let action = Action::Delay { to: Target::host(to), by, lasts: LEASE, messages: Some(1) };
        (START - 1, Target::host(from), action)
    };
    let apart = Action::Cut { to: others(), both: true, lasts: 3 * LEASE };
    let actions = [
        delay("node-1", "client-1", reply),
        delay("client-1", "node-2", second),
        delay("client-1", "node-3", third),
        (START - 1, Target::host("client-1"), apart),
    ];
    staged(LEASE + FREED, actions)
}
