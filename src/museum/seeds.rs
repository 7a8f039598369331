//! The search by seeds: each draws a run of the scenario, with its faults.

use picklock_campaign::campaign::{Campaign, quoted};
use picklock_campaign::check;
use picklock_model::seed::Seed;
use picklock_sim::engine::Engine;

use super::outcome::{Found, Observed, RunError};
use super::search::Search;
use super::watch::Watch;

pub(super) fn observe(search: &Search<'_>, runs: u64) -> Result<Observed, RunError> {
    let Search { bug, design, scenario, .. } = *search;
    let watch = Watch::new(&bug.run.invariant, search.observer);
    let campaign = Campaign {
        jobs: search.request.jobs,
        ..Campaign::new(vec![design.clone()], vec![scenario.clone()], 0..runs)
    };
    let summary = campaign.run(search.stop, &watch)?;
    let took = watch.elapsed();
    let cell = &summary.cells[0];
    let violation = cell.violations.get(&bug.run.invariant);
    let found = |seed: u64| -> Result<Found, RunError> {
        let replay = format!(
            "picklock replay {} {} {seed}{} --shrink",
            quoted(&design.name),
            search.scenario_word(),
            search.settings()
        );
        let run = check::seed(Engine::Event, design, scenario, Seed(seed))?;
        search.found(&run, Found::new(seed, seed + 1, watch.first(), replay))
    };
    let first = violation.map(|violation| found(violation.first_seed)).transpose()?;
    Ok(Observed {
        version: search.version.to_owned(),
        runs: cell.runs,
        violating: violation.map_or(0, |violation| violation.runs),
        inconclusive: cell.unknown,
        took,
        first,
    })
}
