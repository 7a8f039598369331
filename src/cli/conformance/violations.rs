//! `--violations`: the violations of designs on simulated servers, re-run on real ones.

use std::ops::Range;

use picklock_campaign::check;
use picklock_campaign::counterexamples::{NETWORKS, confirm, is_open_on_real_servers, most_serious_first};
use picklock_campaign::shrink;
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
}

/// Tries each violation that the seeds show, under the first that does; a line for each once it is known, and then the sum.
pub(super) fn try_all(
    designs: &[Design],
    scenarios: &[Scenario],
    seeds: &Range<u64>,
    server: &str,
) -> Result<Exit, Failure> {
    let mut totals = Totals::default();
    for design in designs {
        for scenario in scenarios {
            let Ok(design) = scenario.applies(design) else { continue };
            let Ok(real) = servers::on_real_servers(design.clone()) else { continue };
            let cell = Cell { design, real, scenario: scenario.name() };
            let mut known: Vec<String> = Vec::new();
            for seed in seeds.clone() {
                let run = check::seed(Engine::Event, &cell.design, scenario, Seed(seed))?;
                let mut new = run.violated();
                new.retain(|name| !known.contains(name));
                known.extend(new.iter().cloned());
                cell.try_them(seed, &run.plan, new, &mut totals)?;
            }
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
    /// Tries the violations of one run: those that a reduced run shows together are tried together.
    fn try_them(
        &self,
        seed: u64,
        plan: &Plan,
        mut left: Vec<String>,
        totals: &mut Totals,
    ) -> Result<(), Failure> {
        let all = left.len();
        left.retain(|name| !is_open_on_real_servers(&self.design, name));
        totals.of_records += (all - left.len()) as u32;
        most_serious_first(&mut left);
        while let Some(hardest) = left.first().cloned() {
            let small = shrink::shrink(Engine::Event, &self.design, plan, &hardest);
            let run = check::check(Engine::Event, &self.design, small)?;
            let (shown, others): (Vec<String>, Vec<String>) =
                left.into_iter().partition(|name| run.violates(name) || *name == hardest);
            left = others;
            if self.real.admits(&run.plan).is_err() {
                continue;
            }
            // A violation may depend on its network, and then it does so on simulated servers too.
            let simulated = confirm(Engine::Event, &self.design, &run.plan, &shown);
            let counts = confirm(Engine::Event, &self.real, &run.plan, &shown);
            for ((invariant, count), simulated) in shown.iter().zip(counts).zip(simulated) {
                let often = count.seen * 2 >= count.of;
                totals.tried += 1;
                totals.seen += u32::from(often);
                screen::print(&format!(
                    "{:<24} {:<17} seed {seed:<3} {invariant:<20} {:>2} of {}, simulated {:>2}{}\n",
                    self.design.name,
                    self.scenario,
                    count.seen,
                    count.of,
                    simulated.seen,
                    if often { "" } else { "  *" },
                ))?;
            }
        }
        Ok(())
    }
}

impl Totals {
    fn sum(&self, server: &str) -> Result<Exit, Failure> {
        let Totals { tried, seen, of_records } = self;
        screen::print(&format!(
            "{seen} of {tried} violations are seen with {server} in at least half of {NETWORKS} networks; {of_records} more are judged \
             by the records or the data of stores, which real servers do not show\n"
        ))?;
        Ok(if *tried == 0 { Exit::Idle } else { Exit::Expected })
    }
}
