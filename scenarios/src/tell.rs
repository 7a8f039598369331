//! Makes the counterexamples of a campaign worth reading: each distinct violation is drawn again, reduced, confirmed on
//! the second engine and kept in a capsule.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use picklock_sim::capsule::{Capsule, FORMAT};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::plan::Plan;
use picklock_sim::seed::Seed;

use crate::campaign::{Campaign, Observer, Pairing, in_parallel};
use crate::check::{self, CheckError, Checked};
use crate::shrink;
use crate::summary::{Cell, Confirmed, Story, Violation};
use crate::tally::Seen;

/// Network seeds under which a violation is confirmed.
pub const NETWORKS: u32 = 16;

/// Why a violation could not be told.
#[derive(Debug, thiserror::Error)]
pub enum TellError {
    /// Its run could not be made again.
    #[error("failed to run {design} under {scenario} again: {source}")]
    Check {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// Why.
        source: CheckError,
    },
    /// Its capsule could not be written.
    #[error("failed to write {}: {source}; check that --out names a directory that you may write to", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A violation with its replay line, not yet reduced.
pub(crate) fn untold(campaign: &Campaign<'_>, pairing: &Pairing<'_>, seen: Seen) -> Violation {
    Violation {
        runs: seen.runs,
        first_seed: seen.first_seed,
        replay: campaign.replay_line(pairing, seen.first_seed),
        ..Violation::default()
    }
}

/// Tells every violation of every cell, on as many threads as the campaign has. When `stop` becomes true, the rest
/// stays untold.
pub(crate) fn all(
    campaign: &Campaign<'_>,
    pairings: &[Pairing<'_>],
    cells: &mut [Cell],
    stop: &AtomicBool,
    observer: &dyn Observer,
) -> Result<(), TellError> {
    let tasks: Vec<(usize, String, u64)> = (cells.iter().enumerate())
        .flat_map(|(at, cell)| {
            cell.violations.iter().map(move |(name, violation)| (at, name.clone(), violation.first_seed))
        })
        .collect();
    observer.telling(tasks.len() as u64);
    let next = AtomicUsize::new(0);
    let told = Mutex::new((Vec::new(), None));
    in_parallel(campaign.jobs, || {
        while !stop.load(Ordering::Relaxed)
            && let Some((cell, invariant, seed)) = tasks.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let outcome = one(campaign, &pairings[*cell], invariant, *seed);
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(told_one) => told.0.push((*cell, invariant.clone(), told_one)),
                Err(error) => drop(told.1.get_or_insert(error)),
            }
            observer.told();
        }
    });
    let (told, error) = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (cell, invariant, told) in told {
        if let (Some(violation), Some(told)) = (cells[cell].violations.get_mut(&invariant), told) {
            violation.capsule = told.capsule;
            violation.confirmed = told.confirmed;
            violation.story = Some(Box::new(told.story));
        }
    }
    error.map_or(Ok(()), Err)
}

struct Told {
    capsule: Option<PathBuf>,
    confirmed: Option<Confirmed>,
    story: Story,
}

fn one(
    campaign: &Campaign<'_>,
    pairing: &Pairing<'_>,
    invariant: &str,
    seed: u64,
) -> Result<Option<Told>, TellError> {
    let Ok(design) = &pairing.design else { return Ok(None) };
    let failed = |source| TellError::Check {
        design: pairing.name.clone(),
        scenario: pairing.scenario.name().to_owned(),
        source,
    };
    let plan = check::draw(design, pairing.scenario, Seed(seed)).map_err(failed)?;
    let small = shrink::shrink(campaign.engine, design, &plan, invariant);
    let run = check::check(campaign.engine, design, small).map_err(failed)?;
    let confirmed = campaign.confirm.then(|| confirm(design, &run.plan, invariant));
    let capsule = match campaign.capsule_path(pairing, invariant) {
        None => None,
        Some(path) => {
            let text = capsule(design, pairing.scenario.name(), campaign.engine, &run).to_text();
            write_whole(&path, &text).map_err(|source| TellError::Write { path: path.clone(), source })?;
            Some(path)
        }
    };
    let story = story(design, pairing.scenario.name(), invariant, run);
    Ok(Some(Told { capsule, confirmed, story }))
}

/// How often a plan shows the violation on turmoil, under networks other than its own.
#[must_use]
pub fn confirm(design: &Design, plan: &Plan, invariant: &str) -> Confirmed {
    let shows = |k: &u32| {
        let plan = shrink::on_network(plan, u64::from(*k));
        check::check(Engine::TURMOIL, design, plan).is_ok_and(|run| run.violates(invariant))
    };
    Confirmed { seen: (0..NETWORKS).filter(shows).count() as u32, of: NETWORKS }
}

/// A run as a capsule.
#[must_use]
pub fn capsule(design: &Design, scenario: &str, engine: Engine, run: &Checked) -> Capsule {
    Capsule {
        capsule: FORMAT,
        picklock: env!("CARGO_PKG_VERSION").to_owned(),
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        replicated: design.topology.replicated,
        engine: engine.to_string(),
        violations: run.violated(),
        digest: run.trace.digest,
        plan: run.plan.clone(),
    }
}

/// A run as a story about one of the invariants that it violates.
#[must_use]
pub fn story(design: &Design, scenario: &str, invariant: &str, run: Checked) -> Story {
    let findings = run.violations().find(|(violated, _)| violated.name == invariant);
    let findings = findings.map(|(_, findings)| findings.to_vec()).unwrap_or_default();
    Story {
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        invariant: invariant.to_owned(),
        findings,
        plan: run.plan,
        trace: run.trace,
    }
}

/// Writes a file so that it is there whole or not at all; makes its directory if need be.
///
/// # Errors
/// When the directory cannot be made or the file not be written.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
