//! From what a test asks for to scenarios.

use picklock_campaign::allow::AllowedViolations;
use picklock_model::text::nearest;
use picklock_scenarios::faults::{self, AtSite};
use picklock_scenarios::scenario::{Scenario, set_each};
use picklock_scenarios::suite;
use picklock_sim::design::Design;
use picklock_sim::store::StoreParams;

use super::settings::Asked;
use super::{Gate, GateError};

/// The scenarios asked for, or the built-in suite, with everything set.
pub(super) fn scenarios(
    design: &Design,
    asked: &[Asked],
    settings: &[String],
) -> Result<Vec<Scenario>, GateError> {
    let stores = stores(design);
    let suite = suite::builtin(&stores);
    let mut scenarios = match asked {
        [] => suite,
        asked => asked.iter().map(|asked| one(&suite, asked, &stores)).collect::<Result<_, _>>()?,
    };
    set_each(&mut scenarios, settings)?;
    Ok(scenarios)
}

/// The scenario whose runs are explored, with what is set of it.
pub(super) fn calm(gate: &Gate) -> Result<Scenario, GateError> {
    let mut scenario = one(&[], &Asked::Named("calm".to_owned()), &stores(&gate.design))?;
    // A setting that it does not have belongs to another one, or was reported as an error.
    let known: Vec<&String> = gate.settings.iter().filter(|setting| scenario.knows(setting)).collect();
    scenario.set_all(&known)?;
    Ok(scenario)
}

/// The kinds of faults that are to be explored; `None` if nothing is.
pub(super) fn kinds(gate: &Gate) -> Result<Option<Vec<&'static AtSite>>, GateError> {
    let kind = |name: &String| {
        let names = || faults::at_sites().map(|kind| kind.name);
        faults::at_site_named(name).ok_or_else(|| GateError::NoFault {
            name: name.clone(),
            nearest: nearest(name, names()).map(str::to_owned),
            known: names().map(str::to_owned).collect(),
        })
    };
    match gate.kinds.as_deref() {
        None => Ok(None),
        Some([]) => Ok(Some(faults::at_sites().collect())),
        Some(named) => named.iter().map(kind).collect::<Result<_, _>>().map(Some),
    }
}

/// The allowed violations; `None` if none were named.
pub(super) fn allowed_violations(
    gate: &Gate,
    scenarios: &[Scenario],
) -> Result<Option<AllowedViolations>, GateError> {
    if gate.allowed.is_empty() && gate.no_worse_than.is_none() {
        return Ok(None);
    }
    let suite = suite::builtin(&stores(&gate.design));
    let mut known: Vec<&str> = scenarios.iter().chain(&suite).map(Scenario::name).collect();
    known.extend(gate.kinds.iter().flat_map(|_| faults::at_sites()).map(|kind| kind.name));
    known.sort_unstable();
    known.dedup();
    let mut allowed_violations = AllowedViolations::default();
    if let Some(design) = &gate.no_worse_than {
        let call = || format!(".no_worse_than({design:?})");
        let known = allowed_violations.no_worse_than(design);
        known.map_err(|problem| GateError::AllowedViolation { call: call(), problem: Box::new(problem) })?;
    }
    for (scenario, invariants) in &gate.allowed {
        let call = || format!(".allow({scenario:?}, {invariants:?})");
        // A scenario goes by its own name alone, and a fault by any of its names.
        let name = if known.contains(&scenario.as_str()) { scenario } else { faults::present_name(scenario) };
        let known = allowed_violations.allow(name, invariants, &known);
        known.map_err(|problem| GateError::AllowedViolation { call: call(), problem: Box::new(problem) })?;
    }
    Ok(Some(allowed_violations))
}

/// The kinds of stores that scenarios may speak of: those that come with picklock, and the design's own.
fn stores(design: &Design) -> Vec<StoreParams> {
    let mut stores = picklock_stores::params();
    let own = design.store.as_ref().map(|store| StoreParams::of(&*store.spec));
    stores.extend(own.filter(|own| stores.iter().all(|known| known.kind != own.kind)));
    stores
}

fn one(suite: &[Scenario], asked: &Asked, stores: &[StoreParams]) -> Result<Scenario, GateError> {
    match asked {
        Asked::File(path) => Ok(Scenario::load(path, stores)?),
        Asked::Named(name) => suite::named(name, stores).ok_or_else(|| GateError::NoScenario {
            name: name.clone(),
            nearest: nearest(name, suite.iter().map(Scenario::name)).map(str::to_owned),
            known: suite.iter().map(|scenario| scenario.name().to_owned()).collect(),
        }),
    }
}
