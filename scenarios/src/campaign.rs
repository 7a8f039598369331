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

use picklock_sim::seed::Seed;

use self::blocks::Blocks;
use self::over::Over;
use self::parallel::in_parallel;
use self::request::Pairing;
use crate::check::{self, CheckError, Probes};
use crate::doctor::{self, Departure};
use crate::summary::{Cell, SCHEMA, Summary};
use crate::tally::Tally;
use crate::tell::{self, TellError};

mod blocks;
pub(crate) mod observer;
pub(crate) mod over;
pub(crate) mod parallel;
pub(crate) mod request;
#[cfg(test)]
mod tests;

pub use self::observer::{Judged, Observer, Silent};
pub use self::request::{Campaign, RealServers, quoted};

/// Of so many seeds the runs of one are made twice: what is not the same then cannot be replayed.
const DOUBLED: u64 = 64;

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
    /// A run was made twice, and was another one.
    #[error("{design} under {scenario}, seed {seed}, is not the same run twice:\n{departure}")]
    NotTheSame {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// The seed.
        seed: u64,
        /// Where the runs part, and what probably makes the difference.
        departure: Departure,
    },
    /// A violation could not be told.
    #[error(transparent)]
    Tell(#[from] TellError),
}

impl Campaign<'_> {
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
            let failed = |source| CampaignError::Check {
                design: pairing.name.clone(),
                scenario: pairing.scenario.name().into(),
                source,
            };
            let checked = check::seed_sharing(self.engine, design, pairing.scenario, Seed(seed), &mut probes)
                .map_err(failed)?;
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
            decided: tally.decided,
            bit: tally.bit.clone(),
            exhausted: Vec::new(),
            expected,
            met: met.as_ref().map(Result::is_ok),
            unmet_because: met.and_then(Result::err),
            metrics: tally.metrics.clone(),
        }
    }
}
