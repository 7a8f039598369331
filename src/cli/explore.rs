//! `picklock explore`: every place at which a fault can hit, one run for each.

use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use picklock_campaign::campaign::quoted;
use picklock_campaign::explore::{self, Explored, Request};
use picklock_campaign::patience::Patience;
use picklock_campaign::{ablation, counterexamples};
use picklock_model::seed::Seed;
use picklock_model::span::Span;
use picklock_model::text::nearest;
use picklock_reports::explored::{self, Explorations};
use picklock_reports::story::timeline;
use picklock_scenarios::faults::{self, AtSite};
use picklock_scenarios::scenario::{Scenario, set_each};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::args::{ColourOptions, HOW_MANY, REPORT, SITES, WHAT, budget, jobs, seeds};
use super::exit::{Exit, Failure};
use super::programs::Programs;
use super::unmodelled::First;
use super::{choose, format, progress, screen, unmodelled};

#[derive(Args)]
#[command(after_help = epilogue(), mut_arg("clock_points", |arg| arg.hide(true)))]
pub(crate) struct ExploreArgs {
    /// Designs, separated by commas; all if absent
    #[arg(long, value_name = "A,B", help_heading = WHAT)]
    design: Vec<String>,
    #[command(flatten)]
    programs: Programs,
    /// A scenario by name, or a scenario file: its world and its workload; its own faults are left out but for those of --keep
    #[arg(long, value_name = "X", default_value = "calm", help_heading = WHAT)]
    scenario: String,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR", help_heading = WHAT)]
    suite: Option<PathBuf>,
    /// Faults, separated by commas; all of the list below if absent
    #[arg(long, value_name = "F,G", value_delimiter = ',', help_heading = SITES)]
    fault: Vec<String>,
    /// Duration of faults that have one, and size of a clock jump: a time, or a multiple of the lease
    #[arg(long, value_name = "TIME", default_value = "1.5 x ttl", help_heading = SITES)]
    lasts: Span,
    /// Set a parameter of the scenario, as in ttl=2s; may be repeated
    #[arg(long, value_name = "K=V", help_heading = WHAT)]
    set: Vec<String>,
    /// The seeds of the workloads: N means 0 to N-1, A..B means A to B-1
    #[arg(long, value_name = "N|A..B", default_value = "1", value_parser = seeds, help_heading = HOW_MANY)]
    seeds: Range<u64>,
    /// Faults of the scenario that every run has, beside the one that is placed, as in clock-drift
    #[arg(long, value_name = "F,G", value_delimiter = ',', help_heading = SITES)]
    keep: Vec<String>,
    /// Client-1 asks first and reaches only K of the stores; it is cut off from the others
    #[arg(long, value_name = "K", help_heading = SITES)]
    held: Option<u32>,
    /// Then try pairs of faults of which each alone leads to no violation
    #[arg(long, help_heading = SITES)]
    pairs: bool,
    /// How long to try pairs
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = budget, requires = "pairs", help_heading = SITES)]
    budget: Duration,
    /// Show the run of one injection site, as in pause:137; give the option twice for a pair of faults
    #[arg(long, value_name = "FAULT:N", conflicts_with_all = ["pairs", "fault"], help_heading = SITES)]
    place: Vec<String>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = HOW_MANY)]
    jobs: Option<NonZero<usize>>,
    /// text, markdown, json, or figures: the counts alone, for `run --explored`
    #[arg(long, default_value = "text", help_heading = REPORT)]
    format: String,
    /// Name every site with a violation, not only the first of each group
    #[arg(long, help_heading = REPORT)]
    verbose: bool,
    #[command(flatten)]
    colours: ColourOptions,
}

/// The part of the help after the options: the faults are those of the catalogue.
fn epilogue() -> String {
    let width = faults::at_sites().map(|fault| fault.name.len()).max().unwrap_or_default();
    let fault = |fault: &AtSite| format!("  {:width$}  {}\n", fault.name, fault.doc);
    let faults: String = faults::at_sites().map(fault).collect();
    format!(
        "First a probe run is made without faults. It records each injection point that a client, a server or the resource \
         reaches. A fault at an injection point is an injection site: one run is made for each site. The report sorts the \
         violations by fault, host and injection point.\n\n\
         Faults:\n{faults}\n\
         The exit code is 1 if a fault leads to a violation that the run without faults does not have.\n\n\
         Examples:\n  \
         picklock explore --design single --scenario calm --fault pause\n  \
         picklock explore --design single --scenario calm --place pause:137\n  \
         picklock explore --design redlock --fault node-restart,clock-step --held 4 --pairs --budget 60s"
    )
}

/// The time for finding out what a violation at a place depends on.
const ABLATION_BUDGET: Duration = Duration::from_mins(1);

/// The settings that let client-1 hold while the others ask, unless they are set otherwise: alone at first, and for most of its
/// lease.
const HELD: [&str; 2] = ["head_start=0.55 x ttl", "first_work=0.85 x ttl"];

pub(crate) fn explore(args: &ExploreArgs) -> Result<Exit, Failure> {
    let format = explored::find(&args.format).ok_or_else(|| {
        let names: Vec<&str> = explored::ALL.iter().map(|format| format.name).collect();
        format::unknown(&args.format, " for explorations", &names)
    })?;
    let scenario = scenario(args)?;
    let kept = kept(args, &scenario)?;
    let mut designs = args.programs.explored_and(&args.design)?;
    choose::fit_autonomous(&designs, &args.set)?;
    let (open, scenarios) = (args.programs.open(&args.design, true), std::slice::from_ref(&scenario));
    let first = First { scenarios, seed: args.seeds.start, engine: Engine::Event };
    unmodelled::put_on_real_servers(&mut designs, &open, &first)?;
    if !args.place.is_empty() {
        let [design] = designs.as_slice() else {
            return Err(Failure::Input("--place shows one run: name one design with --design".to_owned()));
        };
        return show_one(args, design, &scenario, kept.as_ref());
    }
    let stop = progress::stop_on_interrupt()?;
    let mut pages = Vec::new();
    for design in &designs {
        let design = match scenario.adapt(design) {
            Ok(design) => design,
            // Of all designs, those that the scenario says something of.
            Err(_) if args.design.is_empty() && !args.programs.any() => continue,
            Err(why) => return Err(says_nothing(&scenario, design, &why)),
        };
        let shows_lines = ["text", "json"].contains(&format.name);
        let request = Request {
            lines: shows_lines,
            kept: kept.as_ref(),
            ..request(args, &design, &scenario, faults_of(&args.fault)?)?
        };
        let bar = progress::Bar::new(0, None);
        let explored =
            explore::explore(&request, &stop, &|all, violated| bar.one_of(all, !violated.is_empty()));
        bar.clear();
        pages.push(explored?);
    }
    let explorations = Explorations { pages, args: replay_args(args), verbose: args.verbose };
    screen::print(&(format.render)(&explorations, &screen::style(args.colours)).map_err(Failure::internal)?)?;
    let breaks = |page: &Explored| {
        page.violating() > 0 || page.pairs.as_ref().is_some_and(|pairs| pairs.violating > 0)
    };
    Ok(if explorations.pages.iter().any(|page| page.partial) {
        Exit::Interrupted
    } else if explorations.pages.iter().any(breaks) {
        Exit::Violation
    } else {
        Exit::Expected
    })
}

fn scenario(args: &ExploreArgs) -> Result<Scenario, Failure> {
    let mut scenarios = [choose::named(&choose::suite(args.suite.as_deref())?, &args.scenario)?];
    if args.held.is_some() {
        set_each(&mut scenarios, &HELD.map(str::to_owned)).map_err(Failure::input)?;
    }
    set_each(&mut scenarios, &args.set).map_err(Failure::input)?;
    let [scenario] = scenarios;
    Ok(scenario)
}

/// The scenario with the faults alone that every run has.
fn kept(args: &ExploreArgs, scenario: &Scenario) -> Result<Option<Scenario>, Failure> {
    if args.keep.is_empty() {
        return Ok(None);
    }
    let bad = |why: String| Failure::Input(format!("--keep: scenario `{}`: {why}", scenario.name()));
    scenario.keeping(&args.keep).map(Some).map_err(bad)
}

fn says_nothing(scenario: &Scenario, design: &Design, why: &str) -> Failure {
    Failure::Input(format!(
        "scenario `{}` does not apply to design `{}`: {why}",
        scenario.name(),
        design.name
    ))
}

fn request<'a>(
    args: &ExploreArgs,
    design: &'a Design,
    scenario: &'a Scenario,
    kinds: Vec<&'static AtSite>,
) -> Result<Request<'a>, Failure> {
    let stores = design.topology.stores;
    if args.held.is_some_and(|held| held > stores) {
        let message = format!(
            "--held is at most the number of stores: the design `{}` has {stores} stores",
            design.name
        );
        return Err(Failure::Input(message));
    }
    let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    Ok(Request {
        design,
        scenario,
        kept: None,
        seeds: args.seeds.clone().map(Seed).collect(),
        kinds,
        lasts: args.lasts.resolve(scenario.lease(design)),
        held: args.held,
        jobs: args.jobs.unwrap_or(cores),
        pairs: args.pairs.then_some(args.budget),
        lines: false,
    })
}

/// The kinds of faults asked for; all if none is named.
fn faults_of(names: &[String]) -> Result<Vec<&'static AtSite>, Failure> {
    if names.is_empty() {
        return Ok(faults::at_sites().collect());
    }
    names.iter().map(|name| fault_named(name)).collect()
}

fn fault_named(name: &str) -> Result<&'static AtSite, Failure> {
    faults::at_site_named(name).ok_or_else(|| {
        let names = || faults::at_sites().map(|fault| fault.name);
        let hint =
            nearest(name, names()).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        let names: Vec<&str> = names().collect();
        Failure::Input(format!("there is no fault `{name}` to explore{hint}; there are {}", names.join(", ")))
    })
}

/// Shows the run of the injection sites that were named.
fn show_one(
    args: &ExploreArgs,
    design: &Design,
    scenario: &Scenario,
    kept: Option<&Scenario>,
) -> Result<Exit, Failure> {
    let mut sites = Vec::new();
    for site in &args.place {
        let (name, number) = site.split_once(':').unwrap_or((site, ""));
        let number = number.parse::<usize>().map_err(|_| {
            Failure::Input(format!(
                "`{site}` is not an injection site: write a fault and a number, as in pause:137"
            ))
        })?;
        sites.push((fault_named(name)?, number));
    }
    let mut kinds: Vec<&'static AtSite> = Vec::new();
    for (fault, _) in &sites {
        if kinds.iter().all(|kind| kind.name != fault.name) {
            kinds.push(fault);
        }
    }
    let design = scenario.adapt(design).map_err(|why| says_nothing(scenario, design, &why))?;
    let request = Request { kept, ..request(args, &design, scenario, kinds)? };
    let seed = Seed(args.seeds.start);
    let run = explore::again(&request, seed, &sites)?;
    let run = run.map_err(|(fault, count)| {
        let known = match count {
            0 => "has no injection site in this run".to_owned(),
            1 => "has one injection site in this run, number 0".to_owned(),
            _ => format!("has {count} injection sites in this run, numbered from 0 to {}", count - 1),
        };
        Failure::Input(format!("{fault} {known}"))
    })?;
    let mut line = format!(
        "picklock explore --design {} --scenario {}{}",
        quoted(&design.name),
        quoted(&args.scenario),
        replay_args(args)
    );
    if seed.0 > 0 {
        line.push_str(&format!(" --seeds {}..{}", seed.0, seed.0 + 1));
    }
    sites.iter().for_each(|(fault, number)| line.push_str(&format!(" --place {}:{number}", fault.name)));
    let violated = run.violated();
    let mut story = counterexamples::story(&design, scenario.name(), &run, line);
    if !violated.is_empty() {
        let patience = Patience::of(Some(ABLATION_BUDGET));
        story.ablation = Some(ablation::of(Engine::Event, &design, &run, &choose::defaults(), &patience));
    }
    let mut text = timeline::render(&story, &screen::style(args.colours), timeline::Detail::Relevant);
    let violations = if violated.is_empty() { "none".to_owned() } else { violated.join(", ") };
    text.push_str(&format!("violations: {violations}\ndigest: {}\n", run.trace.digest));
    screen::print(&text)?;
    Ok(if violated.is_empty() { Exit::Expected } else { Exit::Violation })
}

/// The arguments that a line needs besides design, scenario and place so that it makes the same sites.
fn replay_args(args: &ExploreArgs) -> String {
    let mut line = String::new();
    if let Some(suite) = &args.suite {
        line.push_str(&format!(" --suite {}", quoted(&suite.display().to_string())));
    }
    args.set.iter().for_each(|setting| line.push_str(&format!(" --set {}", quoted(setting))));
    let lasts = args.lasts.to_string();
    if lasts != "1.5 x ttl" {
        line.push_str(&format!(" --lasts {}", quoted(&lasts)));
    }
    if !args.keep.is_empty() {
        let names: Vec<&str> = args.keep.iter().map(|name| faults::present_name(name)).collect();
        line.push_str(&format!(" --keep {}", quoted(&names.join(","))));
    }
    args.held.iter().for_each(|held| line.push_str(&format!(" --held {held}")));
    line
}
