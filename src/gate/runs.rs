//! The runs of one scenario, on several threads, added up as they come.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use picklock_campaign::check::{self, Checked};
use picklock_campaign::doctor::{self, Difference};
use picklock_campaign::tally::Tally;
use picklock_model::seed::Seed;
use picklock_reports::{Style, examined};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::budget::Share;
use super::heart::Heart;
use super::{Gate, GateError, panics};

/// So many runs of each scenario are made twice even if nothing is violated in them.
const TWICE: u64 = 4;

/// Runs every seed. If several fail, the error is that of the lowest.
pub(super) fn all(
    gate: &Gate,
    design: &Design,
    scenario: &Scenario,
    heart: &Heart,
    share: Share,
) -> Result<Tally, GateError> {
    let seeds = gate.range();
    let next = AtomicU64::new(seeds.start);
    let results: Mutex<(Tally, Option<(u64, GateError)>)> = Mutex::default();
    let results_now = || results.lock().unwrap_or_else(PoisonError::into_inner);
    in_parallel(gate.jobs, || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            // Seeds are handed out in order: when one has failed, all lower ones are under way or done.
            if seed >= seeds.end || share.is_over() || results_now().1.is_some() {
                break;
            }
            match one(gate, design, scenario, seed) {
                Ok(run) => {
                    heart.ran(run.violations().next().is_some());
                    tally.add(&run);
                }
                Err(error) => {
                    let failed = &mut results_now().1;
                    if failed.as_ref().is_none_or(|(lowest, _)| seed < *lowest) {
                        *failed = Some((seed, error));
                    }
                }
            }
        }
        results_now().0.merge(tally);
    });
    match results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (tally, None) => Ok(tally),
        (_, Some((_, error))) => Err(error),
    }
}

/// Runs one seed; twice if it violates something, or is one of the first.
fn one(gate: &Gate, design: &Design, scenario: &Scenario, seed: u64) -> Result<Checked, GateError> {
    let run = || {
        panics::watched(|| check::seed(gate.engine, design, scenario, Seed(seed)))
            .map_err(|error| GateError::of(error, &design.name, scenario.name()))
    };
    let first = run()?;
    if seed - gate.range().start < TWICE || first.violations().next().is_some() {
        return same(gate.engine, design, scenario.name(), [first, run()?]);
    }
    Ok(first)
}

/// Checks that two runs of the same seed are the same; then the first of them.
pub(super) fn same(
    engine: Engine,
    design: &Design,
    scenario: &str,
    runs: [Checked; 2],
) -> Result<Checked, GateError> {
    let [first, again] = &runs;
    if first.trace.digest == again.trace.digest && first.plan == again.plan {
        let [first, _] = runs;
        return Ok(first);
    }
    let seed = first.plan.seed.0;
    let (design_name, scenario) = (design.name.to_string(), scenario.to_owned());
    let difference = difference(engine, design, runs);
    Err(GateError::Stray { design: design_name, scenario, seed, difference })
}

/// Where two runs part, and what probably made them. Two more may say more of it: in these, what was sent is kept.
fn difference(engine: Engine, design: &Design, runs: [Checked; 2]) -> String {
    let told = panics::watched(|| doctor::twice(engine, design, &runs[0].plan)).ok();
    let found =
        told.and_then(|told| Difference::between(design, told)).or_else(|| Difference::between(design, runs));
    let told = found.map(|difference| examined::difference(&difference, &Style::default()));
    // Equal runs of different plans: a calm one differed, from which it is drawn when faults hit.
    told.unwrap_or_else(|| "  its faults were drawn otherwise, from a calm run that differed\n".to_owned())
}

/// Runs the same work on several threads and waits for all.
pub(super) fn in_parallel(jobs: NonZero<usize>, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..jobs.get() {
            scope.spawn(&work);
        }
        work();
    });
}
