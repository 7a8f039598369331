//! Every single site of a fault-free run, as cells of the verdict: one for each kind of fault.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock_campaign::allow::AllowedViolations;
use picklock_campaign::explore::{self, Explored, Kind, Request, Site};
use picklock_campaign::patience::Patience;
use picklock_campaign::story::Story;
use picklock_campaign::summary::{Cell, Expected, Violation};
use picklock_campaign::{ablation, check, counterexamples, files, shrink};
use picklock_model::repro::ReproFile;
use picklock_model::seed::Seed;
use picklock_scenarios::faults::{self, AtSite};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::heartbeat::Heartbeat;
use super::repro::{out, replay_line};
use super::{Gate, GateError, Verdict, choose};

/// The names of the cells begin with this, and end with the kind of fault.
const PREFIX: &str = "explore-";

/// An exploration with its results.
pub(super) struct Exploration {
    design: Design,
    scenario: Scenario,
    kinds: Vec<&'static AtSite>,
    found: Explored,
}

impl Exploration {
    fn request<'a>(&'a self, gate: &Gate) -> Request<'a> {
        request(gate, &self.design, &self.scenario, &self.kinds)
    }
}

fn request<'a>(
    gate: &Gate,
    design: &'a Design,
    scenario: &'a Scenario,
    kinds: &[&'static AtSite],
) -> Request<'a> {
    Request {
        design,
        scenario,
        kept: None,
        seeds: vec![Seed(gate.range().start)],
        kinds: kinds.to_vec(),
        lasts: scenario.lease(design) * 3 / 2,
        held: None,
        jobs: gate.jobs,
        pairs: None,
        lines: false,
    }
}

/// The scenario whose allowed violations apply to a cell or to a saved run.
pub(super) fn scenario_of(cell: &str) -> &str {
    let Some(kind) = cell.strip_prefix(PREFIX) else { return cell };
    faults::at_site_named(kind).map_or(kind, |placed| placed.scenario)
}

/// The allowed violations of a cell of this name: those of its scenario, and those of its fault kind by its own name.
pub(super) fn allowed(allowed_violations: &AllowedViolations, cell: &str) -> Expected {
    let mut expected = allowed_violations.under(scenario_of(cell));
    if let Some(kind) = cell.strip_prefix(PREFIX) {
        expected.may.extend(allowed_violations.under(faults::present_name(kind)).may);
        expected.may.sort_unstable();
        expected.may.dedup();
    }
    expected
}

/// Makes a run for each site.
pub(super) fn all(
    gate: &Gate,
    kinds: &[&'static AtSite],
    heartbeat: &Heartbeat,
    time: &Patience,
) -> Result<Exploration, GateError> {
    heartbeat.at("single sites");
    let scenario = choose::calm(gate)?;
    let design = scenario
        .adapt(&gate.design)
        .map_err(|why| GateError::Unexplored { design: gate.design.name.to_string(), why })?;
    let stop = AtomicBool::new(false);
    let progress = |_, violated: &[String]| {
        heartbeat.ran(!violated.is_empty());
        if time.is_over() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let found = explore::explore(&request(gate, &design, &scenario, kinds), &stop, &progress)
        .map_err(|error| GateError::of(error, &design.name, "calm, explored", None))?;
    Ok(Exploration { design, scenario, kinds: kinds.to_vec(), found })
}

/// Adds the results to the verdict, and reports each violation that is not allowed.
pub(super) fn report(
    gate: &Gate,
    placed: &Exploration,
    allowed_violations: Option<&AllowedViolations>,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let found = &placed.found;
    verdict.note(format!(
        "Explored {} of {} sites on a fault-free run of seed {}, faults of {} ms; {} violate something.",
        found.explored(),
        found.sites(),
        gate.range().start,
        found.lasts.as_millis(),
        found.violating(),
    ));
    if !found.without_fault.is_empty() {
        verdict.add(without_a_fault(gate, placed, allowed_violations));
    }
    for kind in found.kinds.iter().filter(|kind| kind.sites > 0) {
        verdict.add(of_kind(gate, placed, kind, allowed_violations)?);
    }
    Ok(())
}

/// The violations when nothing hits.
fn without_a_fault(
    gate: &Gate,
    placed: &Exploration,
    allowed_violations: Option<&AllowedViolations>,
) -> Cell {
    let seed = gate.range().start;
    let replay = format!(".scenarios([\"calm\"]).seeds({seed}..{})", seed.saturating_add(1));
    let violation = Violation { runs: 1, first_seed: seed, replay, ..Violation::default() };
    let violations =
        placed.found.without_fault.iter().map(|name| (name.clone(), violation.clone())).collect();
    let cell = Cell { runs: 1, hit_lock: 1, violations, ..empty(gate, "calm") };
    judged(cell, allowed_violations)
}

fn of_kind(
    gate: &Gate,
    placed: &Exploration,
    kind: &Kind,
    allowed_violations: Option<&AllowedViolations>,
) -> Result<Cell, GateError> {
    let (explored, took_effect) = (kind.explored as u64, kind.took_effect as u64);
    let mut cell = Cell { runs: explored, hit_lock: took_effect, ..empty(gate, kind.fault) };
    cell.took_effect.insert(kind.fault.to_owned(), took_effect);
    // A hit may violate something and be no longer there to be seen; what it broke counts more than that.
    cell.unknown = explored.saturating_sub(took_effect.max(kind.violating as u64));
    let mut first: BTreeMap<&str, (&Site, u64)> = BTreeMap::new();
    for failure in placed.found.failures.iter().filter(|failure| failure.signature.fault == kind.fault) {
        for name in &failure.violated {
            for place in &failure.places {
                let (earliest, runs) = first.entry(name).or_insert((place, 0));
                *earliest = (*earliest).min(place);
                *runs += 1;
            }
        }
    }
    for (name, (place, runs)) in &first {
        let replay = format!("the site {}:{} of `picklock explore`", kind.fault, place.number);
        let violation = Violation { runs: *runs, first_seed: place.seed.0, replay, ..Violation::default() };
        cell.violations.insert((*name).to_owned(), violation);
    }
    let mut cell = judged(cell, allowed_violations);
    for (name, (place, _)) in first {
        if !cell.allows(name) {
            let reduced = reduced(gate, placed, place, name)?;
            if let Some(violation) = cell.violations.get_mut(name) {
                *violation = Violation { runs: violation.runs, first_seed: violation.first_seed, ..reduced };
            }
        }
    }
    Ok(cell)
}

/// The run of one site, reduced, confirmed and kept.
fn reduced(gate: &Gate, placed: &Exploration, place: &Site, invariant: &str) -> Result<Violation, GateError> {
    let name = format!("{PREFIX}{}", place.fault);
    let failed = |error| GateError::of(error, &gate.design.name, &name, None);
    let kind = faults::at_site_named(place.fault).map(|kind| (kind, place.number));
    let places: Vec<(&'static AtSite, usize)> = kind.into_iter().collect();
    let Ok(whole) = explore::again(&placed.request(gate), place.seed, &places).map_err(failed)? else {
        return Ok(Violation::default());
    };
    let design = &placed.design;
    let small = shrink::shrink(Engine::Event, design, &whole.plan, invariant);
    let run = check::check(check::Options::from(Engine::Event).with_wire(), design, small).map_err(failed)?;
    let file = files::repro(&out(gate), &gate.design.name, &name, invariant);
    let kept: ReproFile = counterexamples::repro(design, &name, Engine::Event, &run);
    files::write_whole(&file, &kept.to_text()).map_err(|source| {
        GateError::Counterexample(counterexamples::CounterexampleError::Write { path: file.clone(), source })
    })?;
    let confirmed = gate
        .confirm
        .then(|| counterexamples::confirm(Engine::TURMOIL, design, &run.plan, &[invariant.to_owned()]));
    let replay = replay_line(&file);
    let ablation = Some(ablation::of(Engine::Event, design, &run, &[], &Patience::default()));
    let story = Story { ablation, ..counterexamples::story(design, &name, &run, replay.clone()) };
    Ok(Violation {
        replay,
        repro: Some(file),
        confirmed: confirmed.and_then(|counts| counts.first().copied()),
        story: Some(Arc::new(story)),
        ..Violation::default()
    })
}

fn empty(gate: &Gate, kind: &str) -> Cell {
    Cell {
        design: gate.design.name.to_string(),
        scenario: format!("{PREFIX}{kind}"),
        engine: Engine::Event.to_string(),
        ..Cell::default()
    }
}

fn judged(cell: Cell, allowed_violations: Option<&AllowedViolations>) -> Cell {
    let Some(allowed_violations) = allowed_violations else { return cell };
    let cell = Cell { expected: Some(allowed(allowed_violations, &cell.scenario)), ..cell };
    let more = cell.violations.keys().filter(|name| !cell.allows(name)).cloned().collect::<Vec<_>>();
    let unmet_because = (!more.is_empty()).then(|| format!("unexpected violation of {}", more.join(", ")));
    Cell { met: Some(more.is_empty()), unmet_because, ..cell }
}
