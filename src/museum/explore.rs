//! The search by exploration: the fault of the bug at each injection site of a run, for one workload after the other.
//!
//! A workload is explored whole, so that the number of its sites that violate says something. Its probe run counts as a run, and the runs
//! until the first violation are those in the order of the sites, whatever the number of threads.

use std::sync::atomic::Ordering;

use picklock_campaign::campaign::quoted;
use picklock_campaign::explore::{self, Explored, Site};
use picklock_model::seed::Seed;
use picklock_scenarios::faults::{self, AtSite};

use super::bug::Bug;
use super::outcome::{Found, Observed, RunError};
use super::search::Search;
use super::watch::Watch;

/// The fault of a bug as explorations place it.
///
/// # Errors
/// Why they do not search for the bug.
pub(super) fn fault_of(bug: &Bug) -> Result<&'static AtSite, String> {
    let name = &bug.run.fault;
    if name == "none" {
        return Err("it needs no fault".to_owned());
    }
    if bug.control.as_ref().is_some_and(|control| control.command.is_none()) {
        return Err(
            "its control sets parameters of the scenario, and the faults of the scenario are left out"
                .to_owned(),
        );
    }
    let placed = faults::find(name).ok().and_then(|fault| fault.at_sites.first());
    placed.ok_or_else(|| format!("explorations do not place the fault `{name}`"))
}

/// Explores workloads until one of them shows the bug, or so many runs are made.
pub(super) fn observe(search: &Search<'_>, runs: u64) -> Result<Observed, RunError> {
    let invariant = &search.bug.run.invariant;
    let watch = Watch::new(invariant, search.observer);
    let mut observed = Observed {
        version: search.version.to_owned(),
        runs: 0,
        violating: 0,
        inconclusive: 0,
        took: watch.elapsed(),
        first: None,
    };
    let mut seed = 0;
    let fault = fault_of(search.bug).map_err(RunError::NotExplored)?;
    while observed.runs < runs && observed.first.is_none() && !search.stop.load(Ordering::Relaxed) {
        let request = request(search, fault, seed);
        let explored = explore::explore(&request, search.stop, &|_, violated| watch.made_a_run(violated))?;
        let violating = violating(&explored, invariant);
        if let Some(site) = violating.first() {
            let runs = observed.runs + 2 + site.number as u64;
            let first = Found {
                site: Some(format!("{}:{}", site.fault, site.number)),
                ..Found::new(seed, runs, watch.first(), replay(search, site))
            };
            let again = explore::again(&request, Seed(seed), &[(fault, site.number)])?;
            // The site is one of those that were just explored.
            observed.first = again.ok().map(|run| search.found(&run, first)).transpose()?;
        }
        observed.runs += 1 + explored.explored() as u64;
        observed.violating += violating.len() as u64;
        observed.inconclusive +=
            explored.kinds.iter().map(|kind| (kind.explored - kind.took_effect) as u64).sum::<u64>();
        seed += 1;
    }
    observed.took = watch.elapsed();
    Ok(observed)
}

fn request<'a>(search: &'a Search<'_>, fault: &'static AtSite, seed: u64) -> explore::Request<'a> {
    explore::Request {
        design: search.design,
        scenario: search.scenario,
        kept: None,
        seeds: vec![Seed(seed)],
        kinds: vec![fault],
        lasts: search.scenario.lease(search.design) * 3 / 2,
        held: None,
        jobs: search.request.jobs,
        pairs: None,
        lines: false,
    }
}

/// The sites that violate the invariant, in their order.
fn violating(explored: &Explored, invariant: &str) -> Vec<Site> {
    let groups = explored.failures.iter();
    let groups = groups.filter(|group| group.violated.iter().any(|violated| violated == invariant));
    let mut sites: Vec<Site> = groups.flat_map(|group| group.places.iter().cloned()).collect();
    sites.sort_unstable();
    sites
}

/// The line that makes the run of a site once more.
fn replay(search: &Search<'_>, site: &Site) -> String {
    let Site { seed: Seed(seed), fault, number, .. } = site;
    let seeds = if *seed > 0 { format!(" --seeds {seed}..{}", seed + 1) } else { String::new() };
    format!(
        "picklock explore --design {} --scenario {}{}{seeds} --place {fault}:{number}",
        quoted(&search.design.name),
        search.scenario_word(),
        search.settings()
    )
}
