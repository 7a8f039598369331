//! `picklock conformance`: the same plans on simulated and on real servers, and where what clients see differs.

use std::collections::BTreeSet;
use std::ops::Range;

use clap::Args;
use picklock_campaign::check;
use picklock_campaign::confirmation::NETWORKS;
use picklock_model::seed::Seed;
use picklock_programs::servers;
use picklock_reports::alike::{self, Alike};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::args::{ColourOptions, seeds};
use super::exit::{Exit, Failure};
use super::{choose, screen};

mod violations;

#[derive(Args)]
#[command(after_help = "\
Each run is made twice with the same plan, faults included: on the simulated servers and on the real ones, both in virtual \
time. The calls of the clients, their requests and the replies are compared word by word; the first difference is named. It \
needs a redis-server, and PostgreSQL for the designs on it. The exit code is 1 if any run differs in words.

With --violations, each violation that is found on simulated servers is reduced and run on the real ones, under 16 other \
draws of the network's latencies. There is a line for each, with the number of networks in which the simulated and the \
real servers show it. One that simulated servers show in fewer than half of the networks is tried under a later seed.

Examples:
  picklock conformance --design single,redlock --scenario calm,pause,node-restart --seeds 5
  picklock conformance --violations --design single --scenario pause --seeds 2")]
pub(crate) struct ConformanceArgs {
    /// Designs, separated by commas: single,redlock if absent, and with --violations all that come with picklock
    #[arg(long, value_name = "A,B")]
    design: Vec<String>,
    /// Scenarios by name, or scenario files (*.toml), separated by commas: calm,pause if absent, and with --violations the suite
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    scenario: Vec<String>,
    /// Re-run each violation on real servers instead of comparing runs event by event
    #[arg(long, alias = "told")]
    violations: bool,
    /// With --violations: in how many networks each is tried
    #[arg(long, value_name = "N", default_value_t = NETWORKS, value_parser = clap::value_parser!(u32).range(1..=100))]
    networks: u32,
    /// Set a parameter of the scenarios, as in ttl=2s; may be repeated
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
    /// The seeds: N means 0 to N-1, A..B means A to B-1
    #[arg(long, value_name = "N|A..B", default_value = "5", value_parser = seeds)]
    seeds: Range<u64>,
    #[command(flatten)]
    colours: ColourOptions,
}

pub(crate) fn conformance(args: &ConformanceArgs) -> Result<Exit, Failure> {
    if servers::installed().is_none() {
        let message = "there is no real server to compare with: install redis-server, and see `picklock doctor --programs`";
        return Err(Failure::Input(message.to_owned()));
    }
    if args.violations {
        let scenarios = choose::scenarios(&args.scenario, None, &args.set)?;
        let designs = choose::designs(&args.design)?;
        let server = versions(&designs);
        return violations::try_all(&designs, &scenarios, (&args.seeds, args.networks), &server);
    }
    let or = |named: &[String], usual: [&str; 2]| match named {
        [] => usual.map(str::to_owned).to_vec(),
        named => named.to_vec(),
    };
    let scenarios = choose::scenarios(&or(&args.scenario, ["calm", "pause"]), None, &args.set)?;
    let style = screen::style(args.colours);
    let (mut page, mut counts, mut apart) = (String::new(), [0_u64; 3], 0);
    let designs = choose::designs(&or(&args.design, ["single", "redlock"]))?;
    let server = versions(&designs);
    for design in designs {
        for scenario in &scenarios {
            for seed in args.seeds.clone() {
                let Some(alike) = compare(&design, scenario, Seed(seed))? else { continue };
                let title = format!("{} under {}, seed {seed}", design.name, scenario.name());
                page.push_str(&alike::render(&title, &alike, ["simulated", &server], &style));
                match alike {
                    Alike::Wholly => counts[0] += 1,
                    Alike::InWords { apart_ns } => {
                        counts[1] += 1;
                        apart = apart_ns.max(apart);
                    }
                    Alike::Until { .. } => counts[2] += 1,
                }
            }
        }
    }
    let [wholly, in_words, differ] = counts;
    let apart = std::time::Duration::from_nanos(apart);
    let times = if in_words > 0 { format!(" (by {apart:?} at most)") } else { String::new() };
    page.push_str(&format!(
        "{} runs on simulated nodes and on {server}: {wholly} alike to the nanosecond, {in_words} in all but times{times}, \
         {differ} differ\n",
        wholly + in_words + differ
    ));
    screen::print(&page)?;
    Ok(match counts {
        [0, 0, 0] => Exit::Inconclusive,
        [_, _, 0] => Exit::Expected,
        _ => Exit::Violation,
    })
}

/// The real servers of these designs.
fn versions(designs: &[Design]) -> String {
    let kinds: BTreeSet<&str> =
        designs.iter().filter_map(|design| Some(design.store.as_ref()?.spec.name())).collect();
    kinds.into_iter().filter_map(servers::version).collect::<Vec<_>>().join(" and ")
}

/// One plan on both; `None` where the scenario does not apply to the design, or a fault needs simulated servers.
fn compare(design: &Design, scenario: &Scenario, seed: Seed) -> Result<Option<Alike>, Failure> {
    let Ok(simulated) = scenario.adapt(design) else { return Ok(None) };
    let plan = check::draw(&simulated, scenario, seed)?.plan;
    let real = choose::real(simulated.clone())?;
    if real.admits(&plan).is_err() {
        return Ok(None);
    }
    let one = check::check(check::Options::from(Engine::Event).with_wire(), &simulated, plan.clone())?;
    let other = check::check(check::Options::from(Engine::Event).with_wire(), &real, plan)?;
    Ok(Some(alike::compare(&one, &other)))
}
