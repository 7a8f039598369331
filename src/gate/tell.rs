//! Violations made worth reading: a campaign of the one seed in which each was first seen reduces it, tries it on the
//! second engine and keeps it in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use picklock_campaign::campaign::{Campaign, CampaignError, Silent};
use picklock_campaign::summary::{Cell, Expected, Violation};
use picklock_campaign::tally::Tally;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::{Gate, GateError};

/// The results of one scenario, its violations told; those that are allowed are only counted.
pub(super) fn cell(
    gate: &Gate,
    scenario: &Scenario,
    tally: &Tally,
    expected: Option<Expected>,
) -> Result<Cell, GateError> {
    let mut cell = counted(&gate.design, scenario.name(), gate.engine, tally, expected);
    let mut seeds = BTreeSet::new();
    for (name, seen) in &tally.violations {
        if !cell.allows(name) {
            seeds.insert(seen.first_seed);
        }
        let (runs, first_seed) = (seen.runs, seen.first_seed);
        let violation = Violation { runs, first_seed, replay: seed_line(first_seed), ..Violation::default() };
        cell.violations.insert((*name).to_owned(), violation);
    }
    // What a later seed violates besides was first seen under an earlier one: the file of that must stay.
    for seed in seeds.into_iter().rev() {
        let mut told = told(gate, scenario, seed)?;
        for (name, seen) in tally.violations.iter().filter(|(_, seen)| seen.first_seed == seed) {
            let mut violation = told.remove(*name).unwrap_or_default();
            violation.runs = seen.runs;
            violation.replay = seed_line(seed);
            if let Some(repro) = &violation.repro {
                violation.replay = format!("{}; the whole run: {}", replay_line(repro), violation.replay);
            }
            if let Some(story) = violation.story.as_mut().map(Arc::make_mut) {
                story.replay.clone_from(&violation.replay);
            }
            cell.violations.insert((*name).to_owned(), violation);
        }
    }
    Ok(cell)
}

/// The results of one scenario, its violations held against what is expected but not listed.
pub(super) fn counted(
    design: &Design,
    scenario: &str,
    engine: Engine,
    tally: &Tally,
    expected: Option<Expected>,
) -> Cell {
    let met = expected.as_ref().and_then(|expected| tally.met(expected));
    Cell {
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        engine: engine.to_string(),
        runs: tally.runs,
        unknown: tally.unknown,
        hit_lock: tally.hit_lock,
        not_applicable: if tally.runs == 0 { Vec::new() } else { tally.not_applicable() },
        took_effect: tally.took_effect.clone(),
        metrics: tally.metrics.clone(),
        met: met.as_ref().map(Result::is_ok),
        unmet_because: met.and_then(Result::err),
        expected,
        ..Cell::default()
    }
}

/// What makes the run of a seed again.
fn seed_line(seed: u64) -> String {
    format!(".seeds({seed}..{})", seed.saturating_add(1))
}

/// The line that makes the run in a file again.
pub(super) fn replay_line(repro: &Path) -> String {
    format!("picklock::replay(design, {:?})", repro.display().to_string())
}

/// All that one seed violates.
fn told(gate: &Gate, scenario: &Scenario, seed: u64) -> Result<BTreeMap<String, Violation>, GateError> {
    let out = out(gate);
    let seeds = seed..seed.saturating_add(1);
    let campaign = Campaign {
        engine: gate.engine,
        jobs: gate.jobs,
        tell: true,
        confirm: gate.confirm,
        out: Some(&out),
        ..Campaign::new(vec![gate.design.clone()], vec![scenario.clone()], seeds)
    };
    let summary = campaign.run(&AtomicBool::new(false), &Silent).map_err(|error| match error {
        CampaignError::Check { design, scenario, source } => GateError::of(source, &design, &scenario),
        CampaignError::NotTheSame { design, scenario, seed, departure } => {
            GateError::Stray { design, scenario, seed, difference: format!("{departure}\n") }
        }
        CampaignError::Tell(error) => GateError::Tell(error),
    })?;
    Ok(summary.cells.into_iter().flat_map(|cell| cell.violations).collect())
}

/// Where violating runs are written.
pub(super) fn out(gate: &Gate) -> PathBuf {
    gate.out.clone().unwrap_or_else(default_out)
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
