//! A kept run, made again with a lock of one's own.

use std::path::Path;
use std::sync::Arc;

use picklock_scenarios::check::{self, CheckError, Checked};
use picklock_scenarios::story::Story;
use picklock_scenarios::summary::Violation;
use picklock_scenarios::tally::Tally;
use picklock_scenarios::{tell, trials};
use picklock_sim::capsule::{Capsule, SIZE_MAX};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::error::FileError;
use super::tell::{counted, replay_line};
use super::{GateError, Verdict, runs};

/// Makes the run in a capsule again, the file that a [`Gate`](crate::Gate) wrote about a violation. Printed, the verdict
/// tells the run; a lock that was mended since can be held to it with [`Verdict::assert_holds`], which fails as well
/// when the mended lock no longer comes to the point at which the fault struck.
///
/// # Panics
/// When the file cannot be read, is not a capsule of this design, or the lock panics.
#[track_caller]
#[must_use]
pub fn replay(design: Design, file: impl AsRef<Path>) -> Verdict {
    try_replay(design, file.as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

fn try_replay(mut design: Design, file: &Path) -> Result<Verdict, GateError> {
    let bad = |why: FileError| GateError::File { path: file.to_owned(), why };
    let capsule = read(file).map_err(bad)?;
    if *capsule.design != *design.name {
        return Err(bad(FileError::OtherDesign { kept: capsule.design, given: design.name.to_string() }));
    }
    let engine: Engine = capsule.engine.parse().map_err(|why| bad(FileError::Unknown(why)))?;
    design.topology.replicated |= capsule.replicated;
    design.admits(&capsule.plan).map_err(|error| bad(FileError::Capsule(error.into())))?;
    let run = || {
        check::check_keeping(engine, &design, capsule.plan.clone()).map_err(|error| match error {
            CheckError::Workload(_) => bad(FileError::Unknown(error.to_string())),
            error @ CheckError::Panicked(_) => GateError::of(error, &design.name, &capsule.scenario),
        })
    };
    let first = run()?;
    runs::same(&design, &capsule.scenario, &first, &run()?)?;
    let note = compare(&capsule, &first);
    Ok(verdict(&design, &capsule.scenario, engine, first, file).noting(note))
}

fn read(file: &Path) -> Result<Capsule, FileError> {
    let bytes = std::fs::metadata(file)?.len();
    if bytes > SIZE_MAX {
        return Err(FileError::TooLarge { bytes, limit: SIZE_MAX });
    }
    Ok(Capsule::from_text(&std::fs::read_to_string(file)?)?)
}

/// The verdict on a single run. Its story is told about the first invariant that it violates, by number.
fn verdict(design: &Design, scenario: &str, engine: Engine, run: Checked, file: &Path) -> Verdict {
    let mut tally = Tally::default();
    tally.add(&run);
    let mut cell = counted(design, scenario, engine, &tally);
    for name in run.violated() {
        let replay = replay_line(file);
        cell.violations
            .insert(name, Violation { runs: 1, first_seed: run.plan.seed.0, replay, ..Violation::default() });
    }
    let first = run.violations().next().map(|(invariant, _)| invariant.name);
    let trials = Some(trials::of(engine, design, &run, &[]));
    let story = Story { trials, ..tell::story(design, scenario, &run, replay_line(file)) };
    if let Some(name) = first
        && let Some(violation) = cell.violations.get_mut(name)
    {
        violation.story = Some(Arc::new(story));
    }
    let mut verdict = Verdict::new(replay_line(file), true);
    verdict.add(cell);
    verdict
}

/// What the capsule says of the run that it kept, compared with this one.
fn compare(capsule: &Capsule, run: &Checked) -> String {
    if capsule.digest == run.trace.digest {
        return "compared with the capsule: the same run to the last event".to_owned();
    }
    let violations =
        if capsule.violations == run.violated() { "the same violations" } else { "other violations" };
    let (then, here) = (&capsule.picklock, env!("CARGO_PKG_VERSION"));
    format!(
        "compared with the capsule: another run, {violations}; the lock has changed since, or picklock has \
         ({then} then, {here} now)"
    )
}
