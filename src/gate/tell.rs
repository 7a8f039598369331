//! Violations made worth reading: each is drawn again from its lowest seed, reduced, tried on the second engine and kept
//! in a file.

use std::path::{Path, PathBuf};

use picklock_scenarios::check;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::shrink::shrink;
use picklock_scenarios::summary::{Cell, Violation};
use picklock_scenarios::tally::{Seen, Tally};
use picklock_scenarios::tell::{self, TellError, write_whole};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::seed::Seed;

use super::{Gate, GateError};

/// The results of one scenario, its violations told. `applied` is what [`Scenario::applies`] said.
pub(super) fn cell(
    gate: &Gate,
    applied: Result<Design, String>,
    scenario: &Scenario,
    tally: &Tally,
) -> Result<Cell, GateError> {
    let mut cell = counted(&gate.design, scenario.name(), gate.engine, tally);
    match applied {
        Err(why) => cell.skipped = Some(why),
        Ok(design) => {
            for (invariant, seen) in &tally.violations {
                cell.violations.insert((*invariant).to_owned(), told(gate, &design, scenario, invariant, *seen)?);
            }
        }
    }
    Ok(cell)
}

/// The results of one scenario without its violations.
pub(super) fn counted(design: &Design, scenario: &str, engine: Engine, tally: &Tally) -> Cell {
    Cell {
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        engine: engine.to_string(),
        runs: tally.runs,
        unknown: tally.unknown,
        not_applicable: if tally.runs == 0 { Vec::new() } else { tally.not_applicable() },
        bit: tally.bit.clone(),
        metrics: tally.metrics.clone(),
        ..Cell::default()
    }
}

fn told(
    gate: &Gate,
    design: &Design,
    scenario: &Scenario,
    invariant: &str,
    seen: Seen,
) -> Result<Violation, GateError> {
    let Seen { runs, first_seed } = seen;
    let failed = |error| GateError::of(error, &design.name, scenario.name());
    let plan = check::draw(design, scenario, Seed(first_seed)).map_err(failed)?;
    let small = shrink(gate.engine, design, &plan, invariant);
    let run = check::check(gate.engine, design, small).map_err(failed)?;
    let confirmed = gate.confirm.then(|| tell::confirm(design, &run.plan, invariant));
    let capsule = capsule_path(gate, scenario.name(), invariant);
    let text = tell::capsule(design, scenario.name(), gate.engine, &run).to_text();
    write_whole(&capsule, &text).map_err(|source| TellError::Write { path: capsule.clone(), source })?;
    let replay =
        format!("{}; the whole run: .seeds({first_seed}..{})", replay_line(&capsule), first_seed.saturating_add(1));
    let story = Some(Box::new(tell::story(design, scenario.name(), invariant, run)));
    Ok(Violation { runs, first_seed, replay, capsule: Some(capsule), confirmed, story })
}

/// The line that makes the run in a file again.
pub(super) fn replay_line(capsule: &Path) -> String {
    format!("picklock::replay(design, {:?})", capsule.display().to_string())
}

fn capsule_path(gate: &Gate, scenario: &str, invariant: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let design: String = gate.design.name.chars().map(plain).collect();
    let out = gate.out.clone().unwrap_or_else(default_out);
    out.join("capsules").join(format!("{design}.{scenario}.{invariant}.json"))
}

/// `picklock` in the target directory that the test was built in, which is the directory above it that cargo has
/// marked as a cache; shown from here if it lies below.
fn default_out() -> PathBuf {
    let is_target = |directory: &&Path| directory.join("CACHEDIR.TAG").is_file();
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(is_target).unwrap_or(Path::new("target"));
    let here = std::env::current_dir().unwrap_or_default();
    target.strip_prefix(&here).unwrap_or(target).join("picklock")
}
