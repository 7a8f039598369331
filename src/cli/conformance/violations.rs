//! `--violations`: the violations of designs on simulated servers, re-run on real ones.

use std::ops::Range;

use picklock_campaign::check;
use picklock_campaign::confirmation::Confirmation;
use picklock_campaign::counterexamples::is_open_on_real_servers;
use picklock_campaign::shrink;
use picklock_campaign::summary::Confirmed;
use picklock_judge::invariants::severity;
use picklock_model::plan::Plan;
use picklock_model::seed::Seed;
use picklock_programs::servers;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::cli::exit::{Exit, Failure};
use crate::cli::screen;

/// The result.
#[derive(Default)]
struct Totals {
    tried: u32,
    /// Seen in at least half of the networks.
    seen: u32,
    /// Not tried: real servers show no records of locks.
    of_records: u32,
    /// Not tried: simulated servers show them in fewer than half of the networks, under each seed that shows them at all.
    of_moments: u32,
    /// How many networks there are.
    networks: u32,
}

/// Tries each violation that the seeds show, under the first that shows it in at least half of the networks; a line for each once it is known,
/// and then the sum.
pub(super) fn try_all(
    designs: &[Design],
    scenarios: &[Scenario],
    (seeds, networks): (&Range<u64>, u32),
    server: &str,
) -> Result<Exit, Failure> {
    let mut totals = Totals { networks, ..Totals::default() };
    for design in designs {
        for scenario in scenarios {
            let Ok(design) = scenario.adapt(design) else { continue };
            let Ok(real) = servers::on_real_servers(design.clone()) else { continue };
            let cell = Cell { design, real, scenario: scenario.name() };
            let (mut known, mut of_moments): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
            for seed in seeds.clone() {
                let run = check::seed(Engine::Event, &cell.design, scenario, Seed(seed))?;
                let mut new = run.violated();
                new.retain(|name| !known.contains(name));
                let shaky = cell.try_them(seed, &run.plan, new.clone(), &mut totals)?;
                new.retain(|name| !shaky.contains(name));
                known.extend(new);
                of_moments.extend(shaky);
            }
            of_moments.sort_unstable();
            of_moments.dedup();
            of_moments.retain(|name| !known.contains(name));
            for invariant in &of_moments {
                screen::print(&format!(
                    "{:<24} {:<17} {invariant}: not tried, it hangs on its moment\n",
                    cell.design.name, cell.scenario
                ))?;
            }
            totals.of_moments += of_moments.len() as u32;
        }
    }
    totals.sum(server)
}

/// A design under a scenario, on simulated servers and on real ones.
struct Cell<'a> {
    design: Design,
    real: Design,
    scenario: &'a str,
}

impl Cell<'_> {
    /// Tries the violations of one run: those that a reduced run shows together are tried together. Returns those that were not tried, since
    /// simulated servers show them in too few networks.
    fn try_them(
        &self,
        seed: u64,
        plan: &Plan,
        mut left: Vec<String>,
        totals: &mut Totals,
    ) -> Result<Vec<String>, Failure> {
        let all = left.len();
        left.retain(|name| !is_open_on_real_servers(&self.design, name));
        totals.of_records += (all - left.len()) as u32;
        left.sort_by_key(|name| severity(name));
        let mut shaky = Vec::new();
        while let Some(hardest) = left.first().cloned() {
            let small = shrink::shrink(Engine::Event, &self.design, plan, &hardest);
            let run = check::check(Engine::Event, &self.design, small)?;
            let (mut shown, others): (Vec<String>, Vec<String>) =
                left.into_iter().partition(|name| run.violates(name) || *name == hardest);
            left = others;
            if self.real.admits(&run.plan).is_err() {
                continue;
            }
            let runs = |design: &Design| Confirmation::after_start(design, &run.plan, totals.networks);
            let often = |count: &Confirmed| count.seen * 2 >= count.of;
            let simulated = runs(&self.design).seen(&self.design, &shown);
            shaky.extend(
                shown.iter().zip(&simulated).filter(|(_, count)| !often(count)).map(|(name, _)| name.clone()),
            );
            let simulated: Vec<Confirmed> = simulated.into_iter().filter(often).collect();
            shown.retain(|name| !shaky.contains(name));
            if shown.is_empty() {
                continue;
            }
            let counts = runs(&self.real).seen(&self.real, &shown);
            for ((invariant, count), simulated) in shown.iter().zip(counts).zip(simulated) {
                totals.tried += 1;
                totals.seen += u32::from(often(&count));
                screen::print(&format!(
                    "{:<24} {:<17} seed {seed:<3} {invariant:<20} {:>2} of {}, simulated {:>2}{}\n",
                    self.design.name,
                    self.scenario,
                    count.seen,
                    count.of,
                    simulated.seen,
                    if often(&count) { "" } else { "  *" },
                ))?;
            }
        }
        Ok(shaky)
    }
}

impl Totals {
    fn sum(&self, server: &str) -> Result<Exit, Failure> {
        let Totals { tried, seen, of_records, of_moments, networks } = self;
        screen::print(&format!(
            "{seen} of {tried} violations are seen with {server} in at least half of {networks} networks; {of_moments} more hang on their \
             moment, and {of_records} are judged by the records or the data of stores, which real servers do not show\n"
        ))?;
        Ok(if *tried == 0 { Exit::Inconclusive } else { Exit::Expected })
    }
}
