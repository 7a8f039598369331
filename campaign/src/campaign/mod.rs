//! A campaign: many runs of many cells on many threads, added up as they come; then the violations are reported.
//!
//! Threads take blocks of seeds of a design, to be run under all of its scenarios: the first block of every cell before
//! the second of any, so that a campaign that is stopped early has looked everywhere. All runs of a design and a seed are
//! made by one thread: most are drawn from a probe run, which is then made once for all of them, and threads wait for each
//! other only to add up. No run is kept: a million seeds need no more memory than a thousand. A violation that is to be
//! reported is drawn again from its seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use self::blocks::Blocks;
use self::failure::{Failure, Place};
use self::journal::{Batch, Journal, Part};
use self::keeps::{Keeps, Nowhere};
use self::making::Making;
use self::over::{Over, Pace};
use crate::about::About;
use crate::counterexamples;
use crate::parallel::in_parallel;
use crate::request::Pairing;
use crate::summary::{Cell, SCHEMA, Summary};
use crate::tally::Tally;

mod blocks;
mod error;
mod failure;
pub mod journal;
mod keeps;
mod making;
pub(crate) mod over;
#[cfg(test)]
mod tests;

pub use self::error::{CampaignError, PartError};
pub use crate::request::observer::{Failed, Judged, Observer, RanOut, Silent};
pub use crate::request::repeated::Repeated;
pub use crate::request::{Campaign, RealServers, Reported, quoted, shard};

/// The runs of a campaign, added up cell by cell.
pub struct Made {
    tallies: Vec<Tally>,
    partial: bool,
}

impl Campaign<'_> {
    /// Makes the runs and reports the violations. When `stop` becomes true, ends early with what there is.
    ///
    /// # Errors
    /// When code of a design panics, or a repro file cannot be written.
    pub fn run(&self, stop: &AtomicBool, observer: &dyn Observer) -> Result<Summary, CampaignError> {
        self.report(&self.make(stop, observer)?, stop, observer)
    }

    /// Makes the runs alone, for whoever has more to do before [`Campaign::report`].
    ///
    /// # Errors
    /// When code of a design panics.
    pub fn make(&self, stop: &AtomicBool, observer: &dyn Observer) -> Result<Made, CampaignError> {
        let tallies = self.make_runs(&self.pairings(), &Nowhere, stop, observer)?;
        Ok(Made { tallies, partial: stop.load(Ordering::Relaxed) })
    }

    /// Reduces, confirms and saves the violations of runs that were made.
    ///
    /// # Errors
    /// When a run cannot be made again, or a repro file cannot be written.
    pub fn report(
        &self,
        made: &Made,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Summary, CampaignError> {
        self.summary(&made.tallies, made.partial, stop, observer)
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
        Ok(self.summary(&tallies, stop.load(Ordering::Relaxed), stop, observer)?)
    }

    /// Makes the runs of a shard and reports nothing: the violations are reported when all shards are merged. Returns how many
    /// runs there are by now, and how many of the cells have a violation.
    ///
    /// # Errors
    /// When code of a design panics, or the journal cannot be written.
    pub fn make_part(
        &self,
        journal: &Journal,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<(u64, usize), PartError> {
        let tallies = self.make_runs(&self.pairings(), journal, stop, observer)?;
        let violated = tallies.iter().filter(|tally| !tally.violations.is_empty()).count();
        Ok((tallies.iter().map(|tally| tally.runs).sum(), violated))
    }

    /// Merges the parts, and reports the violations, as if this process had made the runs.
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
        Ok(self.summary(&tallies, !whole, stop, observer)?)
    }

    fn summary(
        &self,
        tallies: &[Tally],
        partial: bool,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Summary, CampaignError> {
        let pairings = self.pairings();
        let mut cells: Vec<Cell> =
            pairings.iter().zip(tallies).map(|(pairing, tally)| self.cell(pairing, tally)).collect();
        if self.reported != Reported::Nothing {
            counterexamples::all(self, &pairings, &mut cells, stop, observer)?;
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
        let making = Making {
            campaign: self,
            pairings,
            over: Over::new(self.budget, stop),
            failure: Failure::none(),
            observer,
        };
        let mut all = vec![Tally::default(); pairings.len()];
        for (cell, tally) in kept.before() {
            all[*cell].merge(tally.clone());
        }
        observer.ran(all.iter().map(|tally| tally.runs).sum());
        let results = Mutex::new(all);
        let add = |cells: BTreeMap<usize, Tally>| {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            cells.into_iter().for_each(|(cell, tally)| results[cell].merge(tally));
        };
        // Results that cannot be kept are worse than any run that fails.
        let unkept = |error| making.failure.add(Place::default(), error);
        in_parallel(self.jobs, || {
            let (mut batch, mut pace) = (Batch::default(), Pace::default());
            while !making.is_over()
                && let Some(block) = blocks.take(wanted)
            {
                let mut cells = BTreeMap::new();
                match making.block(&block, &mut cells) {
                    true => batch.add(block.number, cells),
                    false => add(cells),
                }
                if pace.is_due() {
                    keep(&mut batch, kept, add).unwrap_or_else(unkept);
                }
            }
            keep(&mut batch, kept, add).unwrap_or_else(unkept);
        });
        let Making { failure, .. } = making;
        failure.into_result(results.into_inner().unwrap_or_else(PoisonError::into_inner))
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
        let mut cell = tally.cell(&pairing.name, scenario, self.engine, expected);
        for violation in cell.violations.values_mut() {
            violation.replay = self.replay_line(pairing, violation.first_seed);
        }
        let lease = pairing.design.as_ref().ok().map(|design| pairing.scenario.lease(design));
        let longer = lease.filter(|lease| *lease > pairing.scenario.ttl());
        Cell {
            skipped: pairing.design.as_ref().err().cloned(),
            longer_lease_ns: longer.map(|lease| lease.as_nanos() as u64),
            ..cell
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
