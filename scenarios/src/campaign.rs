//! A campaign: many runs of many cells on many threads, added up as they come, then the violations told.
//!
//! Threads take blocks of seeds of a design, to be run under all of its scenarios: the first block of every cell before
//! the second of any, so that a campaign that is stopped early has looked everywhere. All runs of a design and a seed are
//! made by one thread: most are drawn from a calm run, which is then made once for all of them, and threads wait for each
//! other only to add up. No run is kept: a million seeds need no more memory than a thousand. A violation that is to be
//! told is drawn again from its seed.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::seed::Seed;

use crate::check::{self, CheckError, Probes};
use crate::expect::Expectations;
use crate::scenario::Scenario;
use crate::summary::{Cell, SCHEMA, Summary};
use crate::tally::Tally;
use crate::tell::{self, TellError};

#[cfg(test)]
mod tests;

/// Runs that a thread takes at a time, as far as they are of whole seeds: few, so that all threads have work in a small
/// campaign, and one that is out of time ends soon.
const BLOCK: u64 = 16;

/// What is to be run.
pub struct Campaign<'a> {
    /// The designs.
    pub designs: Vec<Design>,
    /// The scenarios, with what was set from outside.
    pub scenarios: Vec<Scenario>,
    /// The seeds of every cell.
    pub seeds: Range<u64>,
    /// The engine of the runs; violations are confirmed on turmoil whichever it is.
    pub engine: Engine,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// No further block of seeds is begun after this long.
    pub budget: Option<Duration>,
    /// Stop at the first violation that is not expected.
    pub fail_fast: bool,
    /// Reduce one run of each distinct violation, so that it can be told: of those that an expectation allows only if they
    /// are confirmed or kept in a capsule, because no report tells these.
    pub tell: bool,
    /// Replay what is told on turmoil.
    pub confirm: bool,
    /// What the cells should show.
    pub expectations: Option<&'a Expectations>,
    /// Where capsules are written.
    pub out: Option<&'a Path>,
    /// How scenarios that are files of their own are asked for, by name.
    pub files: BTreeMap<String, String>,
    /// Arguments that a replay line needs beside design, scenario and seed, such as `--set ttl=2s`.
    pub replay_args: String,
    /// The command line, for the report.
    pub command: String,
}

/// Is told how a campaign goes on; called from several threads.
pub trait Observer: Sync {
    /// So many more runs are done.
    fn ran(&self, runs: u64);
    /// The runs are over and so many violations are about to be reduced and confirmed.
    fn telling(&self, violations: u64);
    /// One of them is done.
    fn told(&self);
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {
    fn ran(&self, _: u64) {}
    fn telling(&self, _: u64) {}
    fn told(&self) {}
}

/// Why a campaign has no results.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A run could not be checked.
    #[error("failed to run {design} under {scenario}: {source}")]
    Check {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// Why.
        source: CheckError,
    },
    /// A violation could not be told.
    #[error(transparent)]
    Tell(#[from] TellError),
}

/// One design under one scenario.
pub(crate) struct Pairing<'a> {
    pub(crate) design: Result<Design, String>,
    pub(crate) name: String,
    pub(crate) scenario: &'a Scenario,
}

impl<'a> Campaign<'a> {
    /// Every scenario with every design, a run for each of the seeds, on this thread and the event engine, nothing told and
    /// nothing expected.
    #[must_use]
    pub fn new(designs: Vec<Design>, scenarios: Vec<Scenario>, seeds: Range<u64>) -> Campaign<'a> {
        Campaign {
            designs,
            scenarios,
            seeds,
            engine: Engine::Event,
            jobs: NonZero::<usize>::MIN,
            budget: None,
            fail_fast: false,
            tell: false,
            confirm: false,
            expectations: None,
            out: None,
            files: BTreeMap::new(),
            replay_args: String::new(),
            command: String::new(),
        }
    }
    /// How many runs it will make if nothing stops it.
    #[must_use]
    pub fn size(&self) -> u64 {
        let cells = self.pairings().iter().filter(|pairing| pairing.design.is_ok()).count() as u64;
        cells * (self.seeds.end - self.seeds.start)
    }

    /// Makes the runs and tells the violations. When `stop` becomes true, ends early with what there is.
    ///
    /// # Errors
    /// When code of a design panics, or a capsule cannot be written.
    pub fn run(&self, stop: &AtomicBool, observer: &dyn Observer) -> Result<Summary, CampaignError> {
        let pairings = self.pairings();
        let tallies = self.make_runs(&pairings, stop, observer)?;
        let partial = stop.load(Ordering::Relaxed);
        let mut cells: Vec<Cell> =
            pairings.iter().zip(&tallies).map(|(pairing, tally)| self.cell(pairing, tally)).collect();
        if self.tell {
            tell::all(self, &pairings, &mut cells, stop, observer)?;
        }
        Ok(Summary { schema: SCHEMA, command: self.command.clone(), partial, cells })
    }

    fn pairings(&self) -> Vec<Pairing<'_>> {
        let of = |design: &Design| {
            let (design, name) = (design.clone(), design.name.to_string());
            let pair = move |scenario| Pairing {
                design: Scenario::applies(scenario, &design),
                name: name.clone(),
                scenario,
            };
            self.scenarios.iter().map(pair).collect::<Vec<_>>()
        };
        self.designs.iter().flat_map(of).collect()
    }

    fn make_runs(
        &self,
        pairings: &[Pairing<'_>],
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Vec<Tally>, CampaignError> {
        let blocks = Blocks::new(pairings, self.scenarios.len(), &self.seeds);
        let over = Over::new(self.budget, stop);
        let results = Mutex::new((vec![Tally::default(); pairings.len()], None));
        in_parallel(self.jobs, || {
            let mut tallies: BTreeMap<usize, Tally> = BTreeMap::new();
            while !over.now()
                && let Some(mut block) = blocks.take()
            {
                let made = block.seeds.try_for_each(|seed| {
                    self.make_seed(pairings, block.cells, seed, &mut tallies, &over, observer)
                });
                if let Err(error) = made {
                    results.lock().unwrap_or_else(PoisonError::into_inner).1.get_or_insert(error);
                    over.set();
                }
            }
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            tallies.into_iter().for_each(|(cell, tally)| results.0[cell].merge(tally));
        });
        let (tallies, error) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(tallies), Err)
    }

    /// Makes the runs of one seed, which share their probes. When the campaign is over, makes no more.
    fn make_seed(
        &self,
        pairings: &[Pairing<'_>],
        cells: &[usize],
        seed: u64,
        tallies: &mut BTreeMap<usize, Tally>,
        over: &Over<'_>,
        observer: &dyn Observer,
    ) -> Result<(), CampaignError> {
        let mut probes = Probes::default();
        for &cell in cells {
            let pairing = &pairings[cell];
            let Ok(design) = &pairing.design else { continue };
            if over.interrupted() {
                return Ok(());
            }
            let checked = check::seed_sharing(self.engine, design, pairing.scenario, Seed(seed), &mut probes)
                .map_err(|source| CampaignError::Check {
                    design: pairing.name.clone(),
                    scenario: pairing.scenario.name().into(),
                    source,
                })?;
            let tally = tallies.entry(cell).or_default();
            tally.add(&checked);
            observer.ran(1);
            if self.fail_fast && self.is_failure(pairing, tally) {
                over.set();
            }
        }
        Ok(())
    }

    /// True if the cell already shows a violation that is not expected.
    fn is_failure(&self, pairing: &Pairing<'_>, tally: &Tally) -> bool {
        let expected = self.expectations.and_then(|all| all.cell(&pairing.name, pairing.scenario.name()));
        match expected {
            None => !tally.violations.is_empty(),
            Some(expected) => {
                let so_far = Tally { runs: 0, ..tally.clone() };
                matches!(so_far.met(&expected), Some(Err(_)))
            }
        }
    }

    fn cell(&self, pairing: &Pairing<'_>, tally: &Tally) -> Cell {
        let scenario = pairing.scenario.name();
        let expected = self.expectations.and_then(|all| all.cell(&pairing.name, scenario));
        let expected = expected.filter(|_| pairing.design.is_ok());
        let met = expected.as_ref().and_then(|expected| tally.met(expected));
        Cell {
            design: pairing.name.clone(),
            scenario: scenario.to_owned(),
            engine: self.engine.to_string(),
            runs: tally.runs,
            unknown: tally.unknown,
            skipped: pairing.design.as_ref().err().cloned(),
            not_applicable: if tally.runs == 0 { Vec::new() } else { tally.not_applicable() },
            violations: (tally.violations.iter())
                .map(|(invariant, seen)| ((*invariant).to_owned(), tell::untold(self, pairing, *seen)))
                .collect(),
            bit: tally.bit.clone(),
            expected,
            met: met.as_ref().map(Result::is_ok),
            unmet_because: met.and_then(Result::err),
            metrics: tally.metrics.clone(),
        }
    }

    /// The line that replays a seed of a cell.
    pub(crate) fn replay_line(&self, pairing: &Pairing<'_>, seed: u64) -> String {
        let name = pairing.scenario.name();
        let scenario = self.files.get(name).map_or(name, String::as_str);
        let mut line = format!("picklock replay {} {} {seed}", quoted(&pairing.name), quoted(scenario));
        if self.engine != Engine::Event {
            line.push_str(&format!(" --engine {}", self.engine));
        }
        line.push_str(&self.replay_args);
        line
    }

    /// Where the capsule of a violation is written, if anywhere.
    pub(crate) fn capsule_path(&self, pairing: &Pairing<'_>, invariant: &str) -> Option<PathBuf> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let design: String = pairing.name.chars().map(plain).collect();
        let file = format!("{design}.{}.{invariant}.json", pairing.scenario.name());
        self.out.map(|out| out.join("capsules").join(file))
    }
}

/// A word as a shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Runs the same work on several threads and waits for all. Each run stays on one thread.
pub(crate) fn in_parallel(jobs: NonZero<usize>, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..jobs.get() {
            scope.spawn(&work);
        }
        work();
    });
}

/// Blocks of seeds of all designs that have runs, handed out one by one.
struct Blocks {
    /// The cells of each design.
    designs: Vec<Vec<usize>>,
    seeds: Range<u64>,
    /// Seeds of a block.
    size: u64,
    next: AtomicU64,
}

/// What a thread takes at a time: the cells of a design, each to be run with all of the seeds.
struct Block<'a> {
    cells: &'a [usize],
    seeds: Range<u64>,
}

impl Blocks {
    /// Of pairings that stand design by design, each with as many scenarios.
    fn new(pairings: &[Pairing<'_>], scenarios: usize, seeds: &Range<u64>) -> Blocks {
        let all: Vec<usize> = (0..pairings.len()).collect();
        let runs = |cells: &[usize]| -> Vec<usize> {
            cells.iter().copied().filter(|cell| pairings[*cell].design.is_ok()).collect()
        };
        let mut designs: Vec<Vec<usize>> = all.chunks(scenarios.max(1)).map(runs).collect();
        designs.retain(|cells| !cells.is_empty());
        let most = designs.iter().map(Vec::len).max().unwrap_or(1) as u64;
        Blocks { designs, seeds: seeds.clone(), size: (BLOCK / most).max(1), next: AtomicU64::new(0) }
    }

    fn take(&self) -> Option<Block<'_>> {
        let designs = self.designs.len() as u64;
        if designs == 0 {
            return None;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let from = self.seeds.start.checked_add((next / designs).checked_mul(self.size)?)?;
        let seeds = from..from.saturating_add(self.size).min(self.seeds.end);
        let cells = &self.designs[(next % designs) as usize];
        (!seeds.is_empty()).then_some(Block { cells, seeds })
    }
}

/// Whether a campaign should make no more runs: interrupted, out of time, or satisfied.
struct Over<'a> {
    #[expect(clippy::disallowed_types, reason = "a budget is time of the machine; no run reads it")]
    deadline: Option<std::time::Instant>,
    stop: &'a AtomicBool,
    satisfied: AtomicBool,
}

impl<'a> Over<'a> {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    fn new(budget: Option<Duration>, stop: &'a AtomicBool) -> Over<'a> {
        let deadline = budget.and_then(|budget| std::time::Instant::now().checked_add(budget));
        Over { deadline, stop, satisfied: AtomicBool::new(false) }
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a budget is time of the machine"
    )]
    fn now(&self) -> bool {
        self.interrupted() || self.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.satisfied.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.satisfied.store(true, Ordering::Relaxed);
    }
}
