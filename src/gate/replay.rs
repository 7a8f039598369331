//! A saved run, made again with a lock of one's own.

use std::path::Path;
use std::sync::Arc;

use picklock_campaign::allow::AllowedViolations;
use picklock_campaign::check::{CheckError, Checked};
use picklock_campaign::patience::Patience;
use picklock_campaign::story::Story;
use picklock_campaign::summary::Cell;
use picklock_campaign::tally::Tally;
use picklock_campaign::{ablation, counterexamples, determinism};
use picklock_model::repro::{NOT_COMPARED, ReproError, ReproFile, SIZE_MAX};
use picklock_reports::{Style, nondeterminism};
use picklock_scenarios::faults;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::error::FileError;
use super::repro::replay_line;
use super::{GateError, Verdict, panics};

/// Makes the run in a repro file again, the file that a [`Gate`](crate::Gate) wrote about a violation. Printed, the verdict
/// shows the run; a lock that was mended since can be held to it with [`Verdict::assert_holds`], which fails as well
/// when the mended lock no longer comes to the point at which the fault hit.
///
/// # Panics
/// When the file cannot be read, is not a repro file of this design, or the lock panics.
#[track_caller]
#[must_use]
pub fn replay(design: Design, file: impl AsRef<Path>) -> Verdict {
    panics::install();
    match try_replay(&design, file.as_ref()) {
        Ok(verdict) => verdict,
        Err(error) => panics::fail(&error),
    }
}

fn try_replay(design: &Design, file: &Path) -> Result<Verdict, GateError> {
    let again = again(design, file)?;
    let mut verdict = Verdict::new(replay_line(file), true);
    verdict.note(again.compared());
    verdict.add(again.cell(file, &again.repro.scenario, None));
    Ok(verdict)
}

/// The results of a saved run, under the name of its file. The allowed violations of its scenario apply to it.
pub(super) fn saved(
    design: &Design,
    file: &Path,
    allowed_violations: Option<&AllowedViolations>,
) -> Result<Cell, GateError> {
    let again = again(design, file)?;
    Ok(again.cell(file, &file.display().to_string(), allowed_violations))
}

/// A saved run, and what became of it.
struct Again {
    repro: ReproFile,
    /// As the repro file's scenario put it.
    design: Design,
    engine: Engine,
    run: Checked,
}

fn again(design: &Design, file: &Path) -> Result<Again, GateError> {
    let bad = |why: FileError| GateError::File { path: file.to_owned(), why };
    let repro = read(file).map_err(bad)?;
    if picklock_programs::recorded(&repro.design, repro.repro) != *design.name {
        return Err(bad(FileError::OtherDesign { kept: repro.design, given: design.name.to_string() }));
    }
    let engine: Engine = repro.engine.parse().map_err(|why| bad(FileError::Unknown(why)))?;
    let mut design = design.clone();
    design.topology.replicated |= repro.replicated;
    design.admits(&repro.plan).map_err(|error| bad(FileError::ReproFile(error.into())))?;
    let scenario = &repro.scenario;
    let runs = determinism::twice(engine, &design, &repro.plan).map_err(|error| match error {
        CheckError::Workload(_) => bad(FileError::Unknown(error.to_string())),
        error @ CheckError::Panicked(_) => GateError::of(error, &design.name, scenario, None),
    })?;
    let run = determinism::the_same(&design, runs).map_err(|parts| GateError::Stray {
        design: design.name.to_string(),
        scenario: scenario.clone(),
        seed: repro.plan.seed.0,
        difference: nondeterminism::difference(&parts, &Style::default()),
    })?;
    Ok(Again { repro, design, engine, run })
}

/// Reads a repro file, which may be any file.
fn read(file: &Path) -> Result<ReproFile, FileError> {
    let about = std::fs::metadata(file)?;
    if !about.is_file() {
        return Err(FileError::Unknown("it is not a file".to_owned()));
    }
    if about.len() > SIZE_MAX {
        return Err(FileError::TooLarge { bytes: about.len(), limit: SIZE_MAX });
    }
    let text = std::fs::read_to_string(file)?;
    let named_as_now = |mut repro: ReproFile| {
        faults::rename(&mut repro.plan);
        repro
    };
    ReproFile::from_text(&text).map(named_as_now).map_err(|error| match error {
        ReproError::Form { line, column, message } => {
            FileError::Field { field: field(&text, line), line, column, message }
        }
        error => FileError::ReproFile(error),
    })
}

/// The field that a line of a repro file stands in: the last one that is named at or before it.
fn field(text: &str, line: usize) -> String {
    let named = |line: &str| {
        let (name, _) = line.trim_start().strip_prefix('"')?.split_once("\":")?;
        Some(name.chars().take(40).collect())
    };
    let before: Vec<&str> = text.lines().take(line).collect();
    before.into_iter().rev().find_map(named).unwrap_or_else(|| "repro".to_owned())
}

impl Again {
    /// The results under this name. The story is about the first violation that is not allowed, by number.
    fn cell(&self, file: &Path, name: &str, allowed_violations: Option<&AllowedViolations>) -> Cell {
        let (design, run) = (&self.design, &self.run);
        let mut tally = Tally::default();
        tally.add(run);
        let expected = allowed_violations
            .map(|allowed_violations| super::explore::allowed(allowed_violations, &self.repro.scenario));
        let mut cell = tally.cell(&design.name, name, self.engine, expected);
        for violation in cell.violations.values_mut() {
            violation.replay = replay_line(file);
        }
        let first = run.violations().map(|(invariant, _)| invariant.name).find(|name| !cell.allows(name));
        if let Some(violation) = first.and_then(|first| cell.violations.get_mut(first)) {
            let ablation = Some(ablation::of(self.engine, design, run, &[], &Patience::default()));
            let story = counterexamples::story(design, &self.repro.scenario, run, replay_line(file));
            violation.story = Some(Arc::new(Story { ablation, ..story }));
        }
        cell
    }

    /// The comparison of this run with the one in the repro file.
    fn compared(&self) -> String {
        let Again { repro, run, .. } = self;
        let violations =
            if repro.violations == run.violated() { "the same violations" } else { "other violations" };
        match repro.is_its_digest(run.trace.digest) {
            Some(true) => return "compared with the repro file: the same run to the last event".to_owned(),
            Some(false) => {}
            None => return format!("compared with the repro file: {violations}; {NOT_COMPARED}"),
        }
        let (then, here) = (&repro.picklock, env!("CARGO_PKG_VERSION"));
        format!(
            "compared with the repro file: another run, {violations}; the lock has changed since, or picklock has \
             ({then} then, {here} now)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn the_field_of_a_line_is_the_last_one_named_before_it() {
        let text = "{\n  \"repro\": 2,\n  \"violations\": [\n    \"a\",\n    3\n  ]\n}";
        assert_eq!(field(text, 2), "repro");
        assert_eq!(field(text, 5), "violations");
        assert_eq!(field(text, 0), "repro");
        assert_eq!(field("\u{7f}\"x\":", 9), "repro");
    }
}
