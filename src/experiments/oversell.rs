//! Selling the last of a stock while some clients are held up: how much too much is sold.

use picklock_model::trace::What;

use super::lab::{Lab, LabError, share};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "oversell",
    claim: "a distributed lock keeps a sale from selling more than there is",
    source: "articles 1 and 4: coupons and sales that open to everybody at once",
    measure,
};

const RUNS: u64 = 500;

const DESIGNS: [(&str, &str); 7] = [
    ("no-lock", "no lock"),
    ("single", "a lease that may run out"),
    ("watchdog", "the same, renewed"),
    ("redlock", "honest holders"),
    ("single-fenced", "a fence at the stock"),
    ("optimistic", "no lock: each sale compares the stock"),
    ("oracle", "a perfect lock"),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut oversold = Vec::new();
    for (design, what) in DESIGNS {
        let (mut runs, mut too_much, mut most, mut again) = (0, 0, 0, 0);
        for seed in 0..RUNS {
            let run = lab.run(design, "seckill", &[], seed)?;
            let taken = |what: &What| match what {
                What::ResourceTaken { amount, taken: true, .. } => *amount,
                _ => 0,
            };
            let sold: i64 = run.trace.events.iter().map(|event| taken(&event.what)).sum();
            let over = (sold - run.plan.world.stock).max(0);
            runs += u64::from(over > 0);
            too_much += over;
            most = most.max(over);
            again += run.metrics.retries;
        }
        oversold.push(runs > 0);
        rows.push(vec![
            design.to_owned(),
            what.to_owned(),
            format!("{runs} of {RUNS} ({})", share(runs, RUNS)),
            too_much.to_string(),
            most.to_string(),
            again.to_string(),
        ]);
    }
    let as_expected = oversold == [true, true, true, true, false, false, false];
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "a lock lowers the number of sales too many and does not end them: a holder that stands still past \
                  its lease sells what another has sold. With a token that the stock checks, or a sale that compares it, nothing is sold \
                  twice."
            .to_owned(),
        figures: vec![Figures {
            title: "six clients, a stock of four, one client paused for 0.5 to 2 leases".to_owned(),
            head: vec!["design", "what keeps order", "runs that oversold", "oversold in all", "at most", "tried again"],
            rows,
        }],
        plot: None,
        replays: vec!["picklock run --design single,single-fenced --scenario seckill --seeds 500".to_owned()],
    })
}
