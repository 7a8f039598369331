//! A program that gets no lock in a run without faults, or never answers that it has let go of one, is not tested: its adapter,
//! its library or its store is at fault, and a report of it (a deadlock, or nothing at all) would be no verdict on the lock.

use picklock_judge::history::History;
use picklock_judge::invariants::progress;
use picklock_judge::outcome::Outcome;
use picklock_model::ids::Key;
use picklock_model::plan::Plan;
use picklock_model::trace::{Event, Trace, What};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::run::Panicked;

use super::program::{CheckError, workload};

/// Checks that a program which got no lock in this run, or did not answer a release, does so if no fault hits. The names of the
/// violated invariants are asked for only if they matter.
///
/// # Errors
/// When it does not, with its last error.
pub(super) fn given(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    trace: &Trace,
    violated: impl Fn() -> Vec<String>,
) -> Result<(), CheckError> {
    // Only a program can fail to reach its library. One that was refused what its store does not have is judged by nobody.
    if design.parts.is_empty() || trace.not_modelled().next().is_some() {
        return Ok(());
    }
    let failing = |trace: &Trace| match unanswered(design, trace) {
        Some(key) => Some(format!(
            "the program has not answered `release {key}`, though no fault hit; it must answer `released` or `error TEXT`, and \
             flush"
        )),
        None if got_none(trace) => {
            Some(format!("no acquire succeeded, though no fault hit; {}", last_error(design, trace)))
        }
        None => None,
    };
    let refused = |message| {
        let (design, seed) = (design.name.to_string(), plan.seed.0);
        Err(CheckError::Panicked(Panicked { design, seed, message, unfit: true }))
    };
    let Some(message) = failing(trace) else { return Ok(()) };
    // A release that never returns, and leaves others waiting, is the fault of the lock; whether they wait for long enough to be blocked is
    // the scenario's choice.
    if unanswered(design, trace).is_some() && blocks(trace) {
        return Ok(());
    }
    if plan.injections.is_empty() {
        return refused(message);
    }
    if got_none(trace) && violated().is_empty() {
        return Ok(());
    }
    let fault_free = Plan { injections: Vec::new(), ..plan.clone() };
    let twin = picklock_sim::run::run(engine, design, &fault_free, &workload(&fault_free)?)?;
    if unanswered(design, &twin.trace).is_some_and(|key| blocks(&twin.trace) || is_wanted(&twin.trace, key)) {
        return Ok(());
    }
    failing(&twin.trace).map_or(Ok(()), refused)
}

/// True if the run violates progress.
fn blocks(trace: &Trace) -> bool {
    matches!((progress::INVARIANT.check)(&History::of(trace)), Outcome::Violated(_))
}

/// True if a client asks for this lock after the release of it that is not answered.
fn is_wanted(trace: &Trace, wanted: &Key) -> bool {
    let mut since_release = trace
        .events
        .iter()
        .skip_while(|event| !matches!(&event.what, What::Releasing { key } if key == wanted));
    since_release.any(|event| matches!(&event.what, What::Waiting { key, .. } if key == wanted))
}

/// True if somebody asked for the lock, and nobody got it.
fn got_none(trace: &Trace) -> bool {
    let any = |is: fn(&What) -> bool| trace.events.iter().any(|event| is(&event.what));
    any(|what| matches!(what, What::Waiting { .. })) && !any(|what| matches!(what, What::Acquired { .. }))
}

/// The lock of a release that a program has not answered for longer than the design's bound. A program that does everything by
/// itself is not asked.
fn unanswered<'t>(design: &Design, trace: &'t Trace) -> Option<&'t Key> {
    let is_answered = |begun: &Event| {
        let ends = |event: &&Event| matches!(event.what, What::Released { .. } | What::Crashed { .. });
        trace.events.iter().filter(ends).any(|event| event.grant == begun.grant)
    };
    trace.events.iter().filter(|_| !design.autonomous).find_map(|event| match &event.what {
        What::Releasing { key }
            if trace.end.since(event.at) > trace.progress_bound && !is_answered(event) =>
        {
            Some(key)
        }
        _ => None,
    })
}

/// The last reason that the program gave for its failure.
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
    let answered = printed.clone().any(|(_, aside)| !aside);
    let last_line = printed.filter(|(_, aside)| *aside).map(|(line, _)| line).next();
    let words = last_line.map(|line| format!(", and its last line on standard error is: {line}"));
    let answer = match (design.autonomous, answered) {
        (true, _) => "it never said `holds`",
        (false, true) => "every answer was `refused`",
        (false, false) => "no acquire was answered",
    };
    answer.to_owned() + &words.unwrap_or_default()
}
