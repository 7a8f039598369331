//! A gate as a campaign: one that makes violating runs twice, reports what is not allowed, and ends in errors that name the remedy.

use std::path::Path;

use picklock_campaign::campaign::{Campaign, CampaignError, Repeated, Reported};
use picklock_campaign::expect::Expectations;
use picklock_campaign::{check, determinism};
use picklock_model::seed::Seed;
use picklock_reports::{Style, nondeterminism};
use picklock_scenarios::scenario::Scenario;

use super::heartbeat::Heartbeat;
use super::{Gate, GateError};

/// The campaign of the gate's scenarios. An exploration has the same share of the budget as each scenario.
pub(super) fn of<'a>(
    gate: &Gate,
    scenarios: Vec<Scenario>,
    expectations: Option<&'a Expectations>,
    out: &'a Path,
) -> Campaign<'a> {
    let parts = u32::try_from(scenarios.len()).unwrap_or(u32::MAX).saturating_add(1);
    let explores = gate.kinds.is_some();
    Campaign {
        engine: gate.engine,
        jobs: gate.jobs,
        budget: gate.budget.map(|budget| if explores { budget - budget / parts } else { budget }),
        reported: Reported::Unexpected,
        repeated: Repeated::Violations,
        confirm: gate.confirm,
        expectations,
        out: Some(out),
        ..Campaign::new(vec![gate.design.clone()], scenarios, gate.range())
    }
}

/// The error of a campaign of a gate.
pub(super) fn failed(campaign: &Campaign<'_>, error: CampaignError, heartbeat: &Heartbeat) -> GateError {
    match error {
        CampaignError::Check { design, scenario, source, .. } => {
            let seen = heartbeat.panic(&scenario, &source);
            GateError::of(source, &design, &scenario, seen)
        }
        CampaignError::NotTheSame { design, scenario, seed, difference: first } => {
            let difference = difference(campaign, &scenario, seed).unwrap_or_else(|| format!("{first}\n"));
            GateError::Stray { design, scenario, seed, difference }
        }
        CampaignError::Counterexample(error) => GateError::Counterexample(error),
    }
}

/// The first difference between two more runs of a seed, if there is one again: in these, what was sent is kept, which says more.
fn difference(campaign: &Campaign<'_>, scenario: &str, seed: u64) -> Option<String> {
    let scenario = campaign.scenarios.iter().find(|known| known.name() == scenario)?;
    let design = scenario.adapt(campaign.designs.first()?).ok()?;
    let plan = check::draw(&design, scenario, Seed(seed)).ok()?.plan;
    let runs = determinism::twice(campaign.engine, &design, &plan).ok()?;
    let difference = determinism::the_same(&design, runs).err()?;
    Some(nondeterminism::difference(&difference, &Style::default()))
}
