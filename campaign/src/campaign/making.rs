//! The runs of a block of seeds, made one after another.

use std::collections::BTreeMap;

use picklock_model::seed::Seed;
use picklock_sim::design::Design;

use super::blocks::Block;
use super::error::CampaignError;
use super::failure::{Failure, Place};
use super::over::Over;
use crate::check::{self, CheckError, Checked, ProbeRuns};
use crate::determinism::DifferenceReport;
use crate::request::observer::{Failed, Judged, Observer};
use crate::request::{Campaign, Pairing};
use crate::tally::Tally;

/// The state that the threads of a campaign share.
pub(super) struct Making<'a, Error> {
    pub(super) campaign: &'a Campaign<'a>,
    pub(super) pairings: &'a [Pairing<'a>],
    pub(super) over: Over<'a>,
    pub(super) failure: Failure<Error>,
    pub(super) observer: &'a dyn Observer,
}

impl<Error: From<CampaignError>> Making<'_, Error> {
    /// True if no further block is begun.
    pub(super) fn is_over(&self) -> bool {
        self.over.now() || self.failure.is_any()
    }

    /// Makes the runs of a block. `false` if the campaign was over before its end.
    pub(super) fn block(&self, block: &Block<'_>, tallies: &mut BTreeMap<usize, Tally>) -> bool {
        block.seeds.clone().all(|seed| self.seed(block, seed, tallies))
    }

    /// Makes the runs of one seed, which share their probes. When the campaign is over, makes no more and returns `false`.
    fn seed(&self, block: &Block<'_>, seed: u64, tallies: &mut BTreeMap<usize, Tally>) -> bool {
        let mut probes = ProbeRuns::default();
        for &cell in block.cells {
            let pairing = &self.pairings[cell];
            let Ok(design) = &pairing.design else { continue };
            let place = Place { block: block.number, seed, cell };
            if self.over.interrupted() || self.failure.is_before(place) {
                return false;
            }
            let checked = match self.checked(&mut probes, pairing, design, Seed(seed)) {
                Ok(checked) => checked,
                Err(error) => {
                    self.failure.add(place, error.into());
                    return false;
                }
            };
            let tally = tallies.entry(cell).or_default();
            tally.add(&checked);
            self.observer.judged(&Judged {
                design: &pairing.name,
                scenario: pairing.scenario.name(),
                seed: Seed(seed),
                run: &checked,
            });
            self.observer.ran(1);
            if self.campaign.fail_fast && self.campaign.is_failure(pairing, tally) {
                self.over.set();
            }
        }
        true
    }

    /// One run, made twice if it is one of those.
    fn checked<'p>(
        &self,
        probes: &mut ProbeRuns<'p>,
        pairing: &Pairing<'_>,
        design: &'p Design,
        seed: Seed,
    ) -> Result<Checked, CampaignError> {
        let Campaign { engine, repeated, seeds, .. } = self.campaign;
        let scenario = pairing.scenario;
        let failed = |source: CheckError| {
            self.observer.failed(&Failed { scenario: scenario.name(), seed, error: &source });
            CampaignError::Check {
                design: pairing.name.as_str().into(),
                scenario: scenario.name().to_owned(),
                source,
                replay: self.campaign.replay_line(pairing, seed.0).into(),
            }
        };
        let run = probes.check(*engine, design, scenario, seed).map_err(failed)?;
        if !repeated.has(&run, seeds.start) {
            return Ok(run);
        }
        let again = check::seed(*engine, design, scenario, seed).map_err(failed)?;
        match DifferenceReport::between(design, [&run, &again]) {
            None => Ok(run),
            Some(difference) => Err(CampaignError::NotTheSame {
                design: pairing.name.clone(),
                scenario: scenario.name().to_owned(),
                seed: seed.0,
                difference,
            }),
        }
    }
}
