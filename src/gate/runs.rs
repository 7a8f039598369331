//! The runs of one scenario, on several threads, added up as they come.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use picklock_scenarios::check::{self, Checked};
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::tally::Tally;
use picklock_sim::design::Design;
use picklock_sim::seed::Seed;

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
        same(design, scenario.name(), &first, &run()?)?;
    }
    Ok(first)
}

/// Checks that two runs of the same seed are the same.
pub(super) fn same(
    design: &Design,
    scenario: &str,
    first: &Checked,
    again: &Checked,
) -> Result<(), GateError> {
    if first.trace.digest == again.trace.digest && first.plan == again.plan {
        return Ok(());
    }
    Err(GateError::Stray {
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        seed: first.plan.seed.0,
        difference: difference(first, again),
    })
}

/// Where two runs part. Where the plans differ already, the calm run differed from which faults are drawn; the runs
/// themselves then differ, too.
fn difference(first: &Checked, again: &Checked) -> String {
    let (one, other) = (&first.trace.events, &again.trace.events);
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let say = |run: &Checked| match run.trace.events.get(common) {
        Some(event) => format!("{} {} {:?}", event.at, run.trace.host_name(event.host), event.what),
        None => "the run is over".to_owned(),
    };
    format!("The first {common} events are the same, then\n  once:  {}\n  again: {}", say(first), say(again))
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
