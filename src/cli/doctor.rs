//! `picklock doctor`: every run twice here and once in another process, and where they part.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use clap::Args;
use picklock_campaign::check;
use picklock_campaign::determinism::{self, DeterminismCheck};
use picklock_model::seed::Seed;
use picklock_programs::{Instruction, Program};
use picklock_reports::nondeterminism;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use serde_json::Value;

use super::args::{ColourOptions, HOW_MANY, WHAT, seeds};
use super::exit::{Exit, Failure};
use super::programs::Programs;
use super::{choose, environment, progress, screen};

#[derive(Args)]
#[command(after_help = "\
A run that is not the same twice cannot be replayed, and a counterexample from it proves nothing. Each run is made twice \
in this process and once in another one; the first event that differs is named with its likely cause. For a lock of your \
own, see `Gate` and docs/guide/own-lock.md. The exit code is 1 if any run differs.

Examples:
  picklock doctor
  picklock doctor --design single,redlock --scenario pause,failover --seeds 20
  picklock doctor --programs                     whether this machine can run unmodified programs")]
pub(crate) struct DoctorArgs {
    /// Designs, separated by commas; all if absent
    #[arg(long, value_name = "A,B", help_heading = WHAT)]
    design: Vec<String>,
    #[command(flatten)]
    programs: Programs,
    /// Scenarios by name, or scenario files (*.toml), separated by commas; all of the suite if absent
    #[arg(long, value_name = "X,Y", value_delimiter = ',', help_heading = WHAT)]
    scenario: Vec<String>,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR", help_heading = WHAT)]
    suite: Option<PathBuf>,
    /// Set a parameter of the scenarios, as in ttl=2s; may be repeated
    #[arg(long, value_name = "K=V", help_heading = WHAT)]
    set: Vec<String>,
    /// The seeds: N means 0 to N-1, A..B means A to B-1
    #[arg(long, value_name = "N|A..B", default_value = "2", value_parser = seeds, help_heading = HOW_MANY)]
    seeds: Range<u64>,
    /// Show what this machine offers for programs in virtual time instead
    #[arg(long = "programs", help_heading = WHAT)]
    machine: bool,
    /// Print the digest of each run and nothing else
    #[arg(long, hide = true)]
    digests: bool,
    #[command(flatten)]
    colours: ColourOptions,
}

/// One run to look at.
struct Case<'a> {
    design: Design,
    name: &'a str,
    scenario: &'a Scenario,
    seed: u64,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if args.machine {
        return environment::check();
    }
    let designs = args.programs.and(&args.design)?;
    let scenarios = choose::scenarios(&args.scenario, args.suite.as_deref(), &args.set)?;
    choose::fit_autonomous(&designs, &args.set)?;
    let cases = cases(&designs, &scenarios, &args.seeds);
    if args.digests {
        let lines = cases.iter().map(digest).collect::<Result<String, Failure>>()?;
        screen::print(&lines)?;
        return Ok(Exit::Expected);
    }
    let stop = progress::stop_on_interrupt()?;
    let elsewhere = elsewhere()?;
    let bar = progress::Bar::new(cases.len() as u64, None);
    let (mut page, mut differing, mut checked) = (String::new(), 0_u64, 0_u64);
    for case in &cases {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let found = check_case(case)?;
        let there = match elsewhere.contains(digest_line(case, &found.1).trim_end()) {
            true => None,
            false => Some(difference_elsewhere(args, case)?),
        };
        let differs = found.0.difference.is_some() || !found.0.noticed.is_empty() || there.is_some();
        if differs {
            differing += 1;
            let title = format!("{} under {}, seed {}", case.name, case.scenario.name(), case.seed);
            page.push_str(&nondeterminism::text(
                &title,
                &found.0,
                there.as_deref(),
                &screen::style(args.colours),
            ));
            page.push_str(&unseen(case));
        }
        checked += 1;
        bar.one_of(cases.len(), differs);
    }
    bar.clear();
    let verdict = if differing == 0 { "no difference".to_owned() } else { format!("{differing} differ") };
    let _ = writeln!(page, "{checked} runs, each twice here and once in another process: {verdict}");
    screen::print(&page)?;
    Ok(if checked < cases.len() as u64 {
        Exit::Interrupted
    } else if differing > 0 {
        Exit::Violation
    } else {
        Exit::Expected
    })
}

/// A note on programs that may differ although they are supervised: instructions that show them the machine.
fn unseen(case: &Case<'_>) -> String {
    let Ok(program) = case.name.parse::<Program>() else { return String::new() };
    let mut files: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for Instruction { name, file } in program.instructions() {
        files.entry(name).or_default().push(file.display().to_string());
    }
    if files.is_empty() {
        return String::new();
    }
    let mut text =
        "the code that it loads has instructions which show it the environment, and which cannot be answered:\n"
            .to_owned();
    for (name, files) in files {
        let _ = writeln!(text, "  {name} in {}", files.join(", "));
    }
    text + "  see docs/guide/threat-model.md\n\n"
}

/// The results of another process for the same runs, a line for each.
fn elsewhere() -> Result<BTreeSet<String>, Failure> {
    let output = another()?.args(std::env::args_os().skip(1)).arg("--digests").output();
    let output = output.map_err(Failure::internal)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::internal(format!(
            "another process failed to make the same runs: {}",
            said.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// This program once more.
fn another() -> Result<Command, Failure> {
    let mut another = Command::new(std::env::current_exe().map_err(Failure::internal)?);
    another.stdin(Stdio::null());
    Ok(another)
}

fn cases<'a>(designs: &'a [Design], scenarios: &'a [Scenario], seeds: &Range<u64>) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for design in designs {
        for scenario in scenarios {
            let Ok(applied) = scenario.adapt(design) else { continue };
            cases.extend(seeds.clone().map(|seed| Case {
                design: applied.clone(),
                name: &design.name,
                scenario,
                seed,
            }));
        }
    }
    cases
}

/// The result of the check of a run, and its digest.
fn check_case(case: &Case<'_>) -> Result<(DeterminismCheck, String), Failure> {
    let plan = check::draw(&case.design, case.scenario, Seed(case.seed)).map_err(Failure::from)?.plan;
    let found = determinism::check(Engine::Event, &case.design, &plan).map_err(Failure::from)?;
    let digest = found.digest.to_string();
    Ok((found, digest))
}

fn digest(case: &Case<'_>) -> Result<String, Failure> {
    let run =
        check::seed(Engine::Event, &case.design, case.scenario, Seed(case.seed)).map_err(Failure::from)?;
    Ok(digest_line(case, &run.trace.digest.to_string()))
}

fn digest_line(case: &Case<'_>, digest: &str) -> String {
    format!("{}\t{}\t{}\t{digest}\n", case.name, case.scenario.name(), case.seed)
}

/// The first event that differs between two more processes, as both have it, if it can still be seen.
fn difference_elsewhere(args: &DoctorArgs, case: &Case<'_>) -> Result<String, Failure> {
    let events = || -> Result<Vec<Value>, Failure> {
        let mut replay = another()?;
        replay.args(["replay", case.name, case.scenario.name(), &case.seed.to_string(), "--format", "json"]);
        if let Some(suite) = &args.suite {
            replay.arg("--suite").arg(suite);
        }
        for setting in &args.set {
            replay.args(["--set", setting]);
        }
        let output = replay.output().map_err(Failure::internal)?;
        let run: Value = serde_json::from_slice(&output.stdout).map_err(Failure::internal)?;
        Ok(run["events"].as_array().cloned().unwrap_or_default())
    };
    let (one, other) = (events()?, events()?);
    let parts = one.iter().zip(&other).find(|(one, other)| one != other);
    Ok(match parts {
        Some((one, other)) => format!("{one}\n{other}"),
        None => "the digests of two processes differ, and two more were the same".to_owned(),
    })
}
