//! The lab of the experiments: cells of many runs, single runs, and plans written by hand.

use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_campaign::campaign::{Campaign, CampaignError, Silent};
use picklock_campaign::check::{self, CheckError, Checked};
use picklock_campaign::summary::Cell;
use picklock_impls::families;
use picklock_judge::outcome::Outcome;
use picklock_model::plan::{Action, Injection, Plan, PlanError, Target, When};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_scenarios::scenario::{Scenario, ScenarioError};
use picklock_scenarios::suite;
use picklock_sim::design::{Design, SpellingError, spell};
use picklock_sim::engine::Engine;

/// Makes the runs of experiments.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    jobs: NonZero<usize>,
}

/// An error that keeps an experiment from being made.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// It names a design that does not exist.
    #[error(transparent)]
    Spelling(#[from] SpellingError),
    /// It names a scenario that does not exist.
    #[error("there is no scenario `{0}`")]
    Scenario(&'static str),
    /// It sets what the scenario does not have.
    #[error(transparent)]
    Setting(#[from] ScenarioError),
    /// The scenario does not apply to the design.
    #[error("{scenario} does not apply to {design}: {why}")]
    Skipped {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: &'static str,
        /// The reason.
        why: String,
    },
    /// Its plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A run failed.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A run of many failed.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
}

impl Lab {
    pub(super) fn new(jobs: NonZero<usize>) -> Lab {
        Lab { jobs }
    }

    /// Many runs of a design under a scenario, added up.
    pub(super) fn cell(
        &self,
        spelling: &str,
        scenario: &'static str,
        settings: &[&str],
        seeds: u64,
    ) -> Result<Cell, LabError> {
        let (designs, scenarios) = (vec![design(spelling)?], vec![load(scenario, settings)?]);
        let campaign = Campaign { jobs: self.jobs, ..Campaign::new(designs, scenarios, 0..seeds) };
        let mut summary = campaign.run(&AtomicBool::new(false), &Silent)?;
        let cell = summary.cells.remove(0);
        match cell.skipped {
            Some(why) => Err(LabError::Skipped { design: spelling.to_owned(), scenario, why }),
            None => Ok(cell),
        }
    }

    /// The plan that a seed draws.
    pub(super) fn plan(
        &self,
        spelling: &str,
        scenario: &'static str,
        settings: &[&str],
        seed: u64,
    ) -> Result<Plan, LabError> {
        let (design, loaded) = (design(spelling)?, load(scenario, settings)?);
        let design = applied(&loaded, scenario, &design)?;
        Ok(check::draw(&design, &loaded, Seed(seed))?.plan)
    }

    /// One run.
    pub(super) fn run(
        &self,
        spelling: &str,
        scenario: &'static str,
        settings: &[&str],
        seed: u64,
    ) -> Result<Checked, LabError> {
        let (design, loaded) = (design(spelling)?, load(scenario, settings)?);
        let design = applied(&loaded, scenario, &design)?;
        Ok(check::seed(Engine::Event, &design, &loaded, Seed(seed))?)
    }

    /// A run of a plan written by hand.
    pub(super) fn staged(&self, spelling: &str, plan: Plan) -> Result<Checked, LabError> {
        plan.validate()?;
        Ok(check::check(Engine::Event, &design(spelling)?, plan)?)
    }
}

fn design(spelling: &str) -> Result<Design, LabError> {
    Ok(spell(families(), spelling)?)
}

fn load(name: &'static str, settings: &[&str]) -> Result<Scenario, LabError> {
    let mut scenario = suite::named(name, &picklock_stores::params()).ok_or(LabError::Scenario(name))?;
    scenario.set_all(settings)?;
    Ok(scenario)
}

fn applied(scenario: &Scenario, name: &'static str, design: &Design) -> Result<Design, LabError> {
    scenario.adapt(design).map_err(|why| LabError::Skipped {
        design: design.name.to_string(),
        scenario: name,
        why,
    })
}

/// A fault action at an instant, for a plan written by hand.
pub(super) fn injected(at: TrueTime, target: Target, action: Action) -> Injection {
    Injection { fault: "staged".to_owned(), when: When::At { at_ns: at }, target, action }
}

/// When clients were granted a lock, in order.
pub(super) fn grants(run: &Checked) -> Vec<TrueTime> {
    let acquired = run.trace.events.iter().filter(|event| matches!(event.what, What::Acquired { .. }));
    acquired.map(|event| event.at).collect()
}

/// How many runs of a cell violated an invariant.
pub(super) fn violating(cell: &Cell, invariant: &str) -> u64 {
    cell.violations.get(invariant).map_or(0, |violation| violation.runs)
}

/// The widest overlap of two beliefs in a run.
pub(super) fn overlap(run: &Checked) -> Duration {
    widest(run, "mutual-exclusion")
}

/// The widest of what was found to violate an invariant in a run; zero if nothing was.
pub(super) fn widest(run: &Checked, invariant: &str) -> Duration {
    let judged = run.outcomes.iter().find(|(judged, _)| judged.name == invariant);
    let findings = match judged {
        Some((_, Outcome::Violated(findings))) => findings.as_slice(),
        _ => &[],
    };
    findings.iter().filter_map(|finding| finding.width).max().unwrap_or_default()
}

/// The share of `hits` in `of` as per cent with one decimal.
pub(super) fn share(hits: u64, of: u64) -> String {
    format!("{:.1}%", hits as f64 * 100.0 / of.max(1) as f64)
}

/// A span in milliseconds with three decimals.
pub(super) fn ms(span: Duration) -> String {
    format!("{:.3}", span.as_nanos() as f64 / 1e6)
}
