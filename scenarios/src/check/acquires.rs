//! A program that gets no lock in a run without faults is not tested: its adapter, its library or its store is at fault, and
//! what would be told of it (a deadlock, most often) is no verdict on the lock.

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::plan::Plan;
use picklock_sim::run::{self, Panicked};
use picklock_sim::trace::{Trace, What};

use super::program::{CheckError, workload};

/// Checks that a program which got no lock in this run gets one if no fault strikes. `breaks` says whether the run violates
/// anything, and is asked only if it matters.
///
/// # Errors
/// When it does not, with its last error.
pub(super) fn some(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    trace: &Trace,
    breaks: impl FnOnce() -> bool,
) -> Result<(), CheckError> {
    // Only a program can fail to reach its library.
    if design.parts.is_empty() || !got_none(trace) {
        return Ok(());
    }
    if plan.injections.is_empty() {
        return Err(none(design, plan, trace));
    }
    if !breaks() {
        return Ok(());
    }
    let calm = Plan { injections: Vec::new(), ..plan.clone() };
    let twin = run::run(engine, design, &calm, &workload(&calm)?)?;
    if got_none(&twin.trace) { Err(none(design, plan, &twin.trace)) } else { Ok(()) }
}

/// Whether somebody asked for the lock, and nobody got it.
fn got_none(trace: &Trace) -> bool {
    let any = |is: fn(&What) -> bool| trace.events.iter().any(|event| is(&event.what));
    any(|what| matches!(what, What::Waiting { .. })) && !any(|what| matches!(what, What::Acquired { .. }))
}

fn none(design: &Design, plan: &Plan, trace: &Trace) -> CheckError {
    let message = format!("no acquire succeeded, though no fault struck; {}", last_error(design, trace));
    CheckError::Panicked(Panicked {
        design: design.name.to_string(),
        seed: plan.seed.0,
        message,
        unfit: true,
    })
}

/// What the program last said of why it failed.
fn last_error(design: &Design, trace: &Trace) -> String {
    let printed = trace.events.iter().rev().filter_map(|event| match &event.what {
        What::Printed { line, aside } => Some((line.trim(), *aside)),
        _ => None,
    });
    let mut errors = printed.clone().filter_map(|(line, aside)| match aside {
        false => line.strip_prefix("error"),
        true => None,
    });
    if let Some(error) = errors.next() {
        let error = error.trim();
        return format!("last error: {}", if error.is_empty() { "no reason given" } else { error });
    }
    let last_words = printed.filter(|(_, aside)| *aside).map(|(line, _)| line).next();
    let words = last_words.map(|line| format!(", and its last line on standard error is: {line}"));
    let answer = if design.by_itself { "it never said `holds`" } else { "every answer was `refused`" };
    answer.to_owned() + &words.unwrap_or_default()
}
