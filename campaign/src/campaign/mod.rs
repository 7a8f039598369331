//! A campaign: many runs of many cells on many threads, added up as they come, then the violations told.
//!
//! Threads take blocks of seeds of a design, to be run under all of its scenarios: the first block of every cell before
//! the second of any, so that a campaign that is stopped early has looked everywhere. All runs of a design and a seed are
//! made by one thread: most are drawn from a calm run, which is then made once for all of them, and threads wait for each
//! other only to add up. No run is kept: a million seeds need no more memory than a thousand. A violation that is to be
//! told is drawn again from its seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use picklock_model::seed::Seed;

use self::blocks::{Block, Blocks};
use self::journal::{Batch, Journal, Part};
use self::keeps::{Keeps, Nowhere};
use self::over::{Over, Pace};
use self::parallel::in_parallel;
use self::request::Pairing;
use crate::about::About;
use crate::check::ProbeRuns;
use crate::doctor;
use crate::summary::{Cell, SCHEMA, Summary};
use crate::tally::Tally;
use crate::tell;

mod blocks;
mod error;
pub mod journal;
mod keeps;
pub(crate) mod observer;
pub(crate) mod over;
pub(crate) mod parallel;
pub(crate) mod request;
pub mod shard;
#[cfg(test)]
mod tests;

pub use self::error::{CampaignError, PartError};
pub use self::observer::{Judged, Observer, RanOut, Silent};
pub use self::request::{Campaign, RealServers, quoted};

/// Of so many seeds the runs of one are made twice: what is not the same then cannot be replayed.
const DOUBLED: u64 = 64;

impl Campaign<'_> {
    /// Makes the runs and tells the violations. When `stop` becomes true, ends early with what there is.
    ///
    /// # Errors
    /// When code of a design panics, or a repro file cannot be written.
    pub fn run(&self, stop: &AtomicBool, observer: &dyn Observer) -> Result<Summary, CampaignError> {
        let tallies = self.make_runs(&self.pairings(), &Nowhere, stop, observer)?;
        self.told(&tallies, stop.load(Ordering::Relaxed), stop, observer)
    }

    /// The same with only those runs that the journal does not have; they are kept there.
    ///
    /// # Errors
    /// As for [`Campaign::run`], and when the journal cannot be written.
    pub fn go_on(
        &self,
        journal: &Journal,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Summary, PartError> {
        let tallies = self.make_runs(&self.pairings(), journal, stop, observer)?;
        Ok(self.told(&tallies, stop.load(Ordering::Relaxed), stop, observer)?)
    }

    /// Makes the runs and tells nothing: they are of a shard, and are told when all shards are merged. Returns how many there
    /// are by now, and how many of the cells have a violation.
    ///
    /// # Errors
    /// When code of a design panics, or the journal cannot be written.
    pub fn make(
        &self,
        journal: &Journal,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<(u64, usize), PartError> {
        let tallies = self.make_runs(&self.pairings(), journal, stop, observer)?;
        let violated = tallies.iter().filter(|tally| !tally.violations.is_empty()).count();
        Ok((tallies.iter().map(|tally| tally.runs).sum(), violated))
    }

    /// Puts together what was made in parts, and tells the violations, as if this process had made the runs.
    ///
    /// # Errors
    /// When the parts are not those of this campaign, or not all of them and not `partial`; or as for [`Campaign::run`].
    pub fn merge(
        &self,
        parts: Vec<Part>,
        partial: bool,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Summary, PartError> {
        let (tallies, whole) = journal::merge(self, parts, partial)?;
        Ok(self.told(&tallies, !whole, stop, observer)?)
    }

    fn told(
        &self,
        tallies: &[Tally],
        partial: bool,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Summary, CampaignError> {
        let pairings = self.pairings();
        let mut cells: Vec<Cell> =
            pairings.iter().zip(tallies).map(|(pairing, tally)| self.cell(pairing, tally)).collect();
        if self.tell {
            tell::all(self, &pairings, &mut cells, stop, observer)?;
        }
        let about = About::of(&self.designs, &self.scenarios);
        Ok(Summary { schema: SCHEMA, command: self.command.clone(), partial, cells, about })
    }

    fn make_runs<Where: Keeps>(
        &self,
        pairings: &[Pairing<'_>],
        kept: &Where,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Vec<Tally>, Where::Error> {
        let blocks = Blocks::of(self, pairings);
        // Those that are this process's to run, and not done before.
        let wanted = |block: u64, designs: u64| {
            self.shard.is_none_or(|shard| shard.has(block, designs)) && !kept.has(block)
        };
        let over = Over::new(self.budget, stop);
        let mut all = vec![Tally::default(); pairings.len()];
        for (cell, tally) in kept.before() {
            all[*cell].merge(tally.clone());
        }
        observer.ran(all.iter().map(|tally| tally.runs).sum());
        let results = Mutex::new((all, None));
        let add = |cells: BTreeMap<usize, Tally>| {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            cells.into_iter().for_each(|(cell, tally)| results.0[cell].merge(tally));
        };
        let fail = |error| {
            results.lock().unwrap_or_else(PoisonError::into_inner).1.get_or_insert(error);
            over.set();
        };
        in_parallel(self.jobs, || {
            let (mut batch, mut pace) = (Batch::default(), Pace::default());
            while !over.now()
                && let Some(block) = blocks.take(wanted)
            {
                let mut cells = BTreeMap::new();
                match self.make_block(pairings, &block, &mut cells, &over, observer) {
                    Ok(true) => batch.add(block.number, cells),
                    Ok(false) => add(cells),
                    Err(error) => {
                        add(cells);
                        fail(error.into());
                    }
                }
                if pace.is_due() {
                    keep(&mut batch, kept, add).unwrap_or_else(fail);
                }
            }
            keep(&mut batch, kept, add).unwrap_or_else(fail);
        });
        let (tallies, error) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(tallies), Err)
    }

    /// Makes the runs of a block. `false` if the campaign was over before its end.
    fn make_block(
        &self,
        pairings: &[Pairing<'_>],
        block: &Block<'_>,
        tallies: &mut BTreeMap<usize, Tally>,
        over: &Over<'_>,
        observer: &dyn Observer,
    ) -> Result<bool, CampaignError> {
        for seed in block.seeds.clone() {
            if !self.make_seed(pairings, block.cells, seed, tallies, over, observer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the runs of one seed, which share their probes. When the campaign is over, makes no more and returns `false`.
    fn make_seed(
        &self,
        pairings: &[Pairing<'_>],
        cells: &[usize],
        seed: u64,
        tallies: &mut BTreeMap<usize, Tally>,
        over: &Over<'_>,
        observer: &dyn Observer,
    ) -> Result<bool, CampaignError> {
        let mut probes = ProbeRuns::default();
        for &cell in cells {
            let pairing = &pairings[cell];
            let Ok(design) = &pairing.design else { continue };
            if over.interrupted() {
                return Ok(false);
            }
            let failed = |source| CampaignError::Check {
                design: pairing.name.clone(),
                scenario: pairing.scenario.name().into(),
                source,
            };
            let checked = probes.check(self.engine, design, pairing.scenario, Seed(seed)).map_err(failed)?;
            if seed.is_multiple_of(DOUBLED)
                && let Some(departure) = doctor::made_again(self.engine, design, &checked).map_err(failed)?
            {
                let (design, scenario) = (pairing.name.clone(), pairing.scenario.name().into());
                return Err(CampaignError::NotTheSame { design, scenario, seed, departure });
            }
            let tally = tallies.entry(cell).or_default();
            tally.add(&checked);
            observer.judged(&Judged {
                design: &pairing.name,
                scenario: pairing.scenario.name(),
                seed: Seed(seed),
                run: &checked,
            });
            observer.ran(1);
            if self.fail_fast && self.is_failure(pairing, tally) {
                over.set();
            }
        }
        Ok(true)
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
            hit_lock: tally.hit_lock,
            took_effect: tally.took_effect.clone(),
            exhausted: Vec::new(),
            expected,
            met: met.as_ref().map(Result::is_ok),
            unmet_because: met.and_then(Result::err),
            metrics: tally.metrics.clone(),
        }
    }
}

/// Keeps what is done, and adds it to the rest.
fn keep<Where: Keeps>(
    batch: &mut Batch,
    kept: &Where,
    add: impl Fn(BTreeMap<usize, Tally>),
) -> Result<(), Where::Error> {
    if batch.blocks.is_empty() {
        return Ok(());
    }
    let batch = std::mem::take(batch);
    let outcome = kept.append(&batch);
    add(batch.cells);
    outcome
}
