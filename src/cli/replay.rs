//! `picklock replay`: one run again, as a story or as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use picklock_campaign::about::About;
use picklock_campaign::campaign::quoted;
use picklock_campaign::check::{self, CheckError, Checked, Drawn};
use picklock_campaign::patience::Patience;
use picklock_campaign::shrink::{self, Limit};
use picklock_campaign::story::Story;
use picklock_campaign::{ablation, counterexamples};
use picklock_judge::invariants::{self, Promise};
use picklock_judge::outcome::Outcome;
use picklock_model::repro::{NOT_COMPARED, ReproError, ReproFile, SIZE_MAX};
use picklock_model::seed::Seed;
use picklock_model::text::nearest;
use picklock_reports::run::json::{Run, run_json};
use picklock_reports::story::timeline::{self, Detail};
use picklock_reports::{Format, html};
use picklock_scenarios::faults;
use picklock_scenarios::scenario::{Scenario, set_each};
use picklock_sim::design::{Design, Part};
use picklock_sim::engine::Engine;

use super::args::{CONFIRMING, ColourOptions, REPORT, SHRINK_BUDGET, WHAT, engine, time};
use super::exit::{Exit, Failure};
use super::programs::Start;
use super::unmodelled::First;
use super::{campaign, choose, format, screen, unmodelled};

#[derive(Args)]
#[command(after_help = "\
Examples:
  picklock replay single pause 17
  picklock replay results/repro/single.pause.mutual-exclusion.json
  picklock replay single pause 17 --format json | jq .digest
  picklock replay single pause 17 --shrink --format svg > paused.svg")]
pub(crate) struct ReplayArgs {
    /// A design, a scenario and a seed; or one repro file
    #[arg(required = true, num_args = 1..=3, value_names = ["DESIGN SCENARIO SEED | FILE"])]
    pub(crate) run: Vec<String>,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR", help_heading = WHAT)]
    pub(crate) suite: Option<PathBuf>,
    /// Set a parameter of the scenario
    #[arg(long, value_name = "K=V", help_heading = WHAT)]
    pub(crate) set: Vec<String>,
    /// The engine: `event` or `turmoil`; that of the repro file, or `event`, if absent
    #[arg(long, value_name = "event|turmoil", value_parser = engine, help_heading = WHAT)]
    pub(crate) engine: Option<Engine>,
    /// text, json, html (a page with the diagram of the run), or one of those of single runs (see `picklock list formats`)
    #[arg(long, default_value = "text", help_heading = REPORT)]
    pub(crate) format: String,
    /// Show each event, not only those that matter to the violation
    #[arg(long, help_heading = REPORT)]
    pub(crate) full: bool,
    /// Shrink the run first, to what the violation of INVARIANT needs; without INVARIANT, of the most
    /// serious violation, or of the one that a rebuilt bug is listed for
    #[arg(
        long,
        value_name = "INVARIANT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = CONFIRMING
    )]
    pub(crate) shrink: Option<String>,
    /// Shrink for no longer than this, and show the smallest run found by then
    #[arg(long, value_name = "TIME", value_parser = time, default_value = SHRINK_BUDGET, requires = "shrink", help_heading = CONFIRMING)]
    pub(crate) shrink_budget: Duration,
    /// Try at most N smaller runs; `run` prints this option if its time for shrinking was over
    #[arg(long, value_name = "N", requires = "shrink", help_heading = CONFIRMING)]
    pub(crate) shrink_tries: Option<u32>,
    #[command(flatten)]
    pub(crate) start: Start,
    #[command(flatten)]
    pub(crate) colours: ColourOptions,
}

/// The formats of one run for people, and as data; the others are those of `picklock_reports::run`.
const FORMATS: [&str; 3] = ["text", "json", "html"];

/// The replayed run, and the line that makes it again.
struct Replayed {
    design: Design,
    scenario: String,
    /// The descriptions of the two.
    about: About,
    engine: Engine,
    run: Checked,
    line: String,
    /// The invariant that the story is about, if one was asked for.
    leading: Option<String>,
    /// Further notes: how a repro file's run compares with this one, and that there was nothing to reduce.
    notes: Vec<String>,
}

pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit, Failure> {
    args.start.apply();
    let other = picklock_reports::run::find(&args.format);
    if other.is_none() && !FORMATS.contains(&args.format.as_str()) {
        let known = FORMATS.into_iter().chain(picklock_reports::run::ALL.iter().map(|format| format.name));
        let known: Vec<&str> = known.collect();
        return Err(format::unknown(&args.format, " for one run", &known));
    }
    if args.full && ["html", "svg"].contains(&args.format.as_str()) {
        let message = format!("{} shows what belongs to the story: --full goes with text", args.format);
        return Err(Failure::Input(message));
    }
    let replayed = match args.run.as_slice() {
        [file] => from_repro(args, Path::new(file))?,
        [design, scenario, seed] => from_seed(args, design, scenario, seed)?,
        _ => {
            let message =
                "give a design, a scenario and a seed, or one repro file: `picklock replay single pause 17`";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    let violated = replayed.run.violations().next().is_some();
    let text = match (other, args.format.as_str()) {
        (Some(format), _) => as_other(&replayed, format, args)?,
        (None, "json") => as_json(&replayed)?,
        (None, "html") => html::run(&story(&replayed, args), &replayed.about),
        (None, _) => as_text(&replayed, args),
    };
    screen::print(&text)?;
    Ok(if violated { Exit::Violation } else { Exit::Expected })
}

fn from_seed(args: &ReplayArgs, design: &str, scenario: &str, seed: &str) -> Result<Replayed, Failure> {
    let seed: u64 = seed.parse().map_err(|_| {
        Failure::Input(format!("`{seed}` is not a seed: a seed is a whole number from 0 to {}", u64::MAX))
    })?;
    let asked = quoted(scenario);
    let mut scenarios = [choose::named(&choose::suite(args.suite.as_deref())?, scenario)?];
    set_each(&mut scenarios, &args.set).map_err(Failure::input)?;
    let [scenario] = scenarios;
    let mut chosen = choose::design(design)?;
    choose::fit_autonomous(std::slice::from_ref(&chosen), &args.set)?;
    let engine = args.engine.unwrap_or_default();
    let first = First { scenarios: std::slice::from_ref(&scenario), seed, engine };
    let open = unmodelled::open([design.to_owned()]);
    unmodelled::put_on_real_servers(std::slice::from_mut(&mut chosen), &open, &first)?;
    let mut remarks = choose::overruled(std::slice::from_ref(&chosen), &args.set);
    remarks.extend(choose::capped(std::slice::from_ref(&chosen), std::slice::from_ref(&scenario)));
    let name = quoted(&chosen.name);
    let design = scenario.adapt(&chosen).map_err(|why| {
        Failure::Input(format!("scenario `{}` does not apply to design `{design}`: {why}", scenario.name()))
    })?;
    let Drawn { plan, lacking, unhit } =
        check::draw(&design, &scenario, Seed(seed)).map_err(Failure::from)?;
    let run = check::check(options(args, engine), &design, plan).map_err(Failure::from)?;
    let clean = run.violations().next().is_none();
    let mut line = format!("picklock replay {name} {asked} {seed}");
    if engine != Engine::Event {
        line.push_str(&format!(" --engine {engine}"));
    }
    if let Some(suite) = &args.suite {
        line.push_str(&format!(" --suite {}", quoted(&suite.display().to_string())));
    }
    args.set.iter().for_each(|setting| line.push_str(&format!(" --set {}", quoted(setting))));
    let about = about(&design, std::slice::from_ref(&scenario));
    let lacks = lacking
        .or(unhit.filter(|_| clean))
        .map(|why| format!("for `picklock run` this run is inconclusive: {why}"));
    let undecided = run.outcomes.iter().filter_map(|(invariant, outcome)| match outcome {
        Outcome::Undecided(why) if invariant.promise == Promise::Availability => {
            Some(format!("{} is undecided: {why}", invariant.name))
        }
        _ => None,
    });
    let notes = lacks.into_iter().chain(undecided).chain(remarks).collect();
    let replayed = Replayed {
        design,
        scenario: scenario.name().to_owned(),
        about,
        engine,
        run,
        line,
        leading: None,
        notes,
    };
    reduced(args, replayed)
}

/// The options of the run: a story needs the bytes of its segments.
fn options(args: &ReplayArgs, engine: Engine) -> check::Options {
    let options = check::Options::from(engine);
    if args.format == "json" { options } else { options.with_wire() }
}

/// The same run, reduced, if that was asked, to what one of its violations needs: the one asked for, or the most serious
/// one. A run that violates nothing stays as it is.
fn reduced(args: &ReplayArgs, mut replayed: Replayed) -> Result<Replayed, Failure> {
    let Some(asked) = &args.shrink else { return Ok(replayed) };
    let named = (!asked.is_empty()).then_some(asked.as_str());
    let default = || counterexamples::reduced_to(&replayed.design, &replayed.run);
    let Some(invariant) = named.map(str::to_owned).or_else(default) else {
        replayed.notes.push("nothing to shrink: no invariant is violated".to_owned());
        return Ok(replayed);
    };
    if !replayed.run.violates(&invariant) {
        let known: Vec<&str> = invariants::ALL.iter().map(|known| known.name).collect();
        if !known.contains(&invariant.as_str()) {
            let near = nearest(&invariant, known.iter().copied());
            let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            return Err(Failure::Input(format!(
                "there is no invariant `{invariant}`{hint}; there are {}",
                known.join(", ")
            )));
        }
        replayed.notes.push(format!("nothing to shrink: {invariant} is not violated"));
        return Ok(replayed);
    }
    let patience = Patience::of(Some(args.shrink_budget));
    let limit = match args.shrink_tries {
        Some(tries) => Limit { tries, patience: &patience },
        None => Limit::of(&patience),
    };
    let (engine, plan) = (replayed.engine, &replayed.run.plan);
    let reduced = shrink::shrink_within(engine, &replayed.design, plan, &invariant, &limit);
    let tries = reduced.cut_short.or(args.shrink_tries);
    let how_far = tries.map(|tries| format!(" --shrink-tries {tries}")).unwrap_or_default();
    match named {
        Some(named) => replayed.line.push_str(&format!(" --shrink={named}{how_far}")),
        None => {
            let (design, run) = (&replayed.design, &replayed.run);
            let shrinking = counterexamples::shrinking(design, run, Some(&invariant), tries);
            replayed.line.push_str(&shrinking);
        }
    }
    replayed.leading = match named {
        Some(named) => Some(named.to_owned()),
        None => {
            let leading = counterexamples::leading(&replayed.design, &replayed.run, &invariant);
            (!leading.is_empty()).then(|| leading.to_owned())
        }
    };
    if let Some(tries) = reduced.cut_short {
        replayed.notes.push(format!(
            "reduced only in part: the {:?} of --shrink-budget were over after {tries} candidates; \
             --shrink-tries {tries} reduces as far again",
            args.shrink_budget,
        ));
    }
    replayed.run =
        check::check(options(args, engine), &replayed.design, reduced.plan).map_err(Failure::from)?;
    Ok(replayed)
}

fn from_repro(args: &ReplayArgs, file: &Path) -> Result<Replayed, Failure> {
    if !args.set.is_empty() || args.suite.is_some() {
        return Err(Failure::Input(
            "a repro file holds its whole plan: --set and --suite do not go with it".to_owned(),
        ));
    }
    let input = |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| input(&format!("cannot be read: {error}")))?.len();
    if size > SIZE_MAX {
        return Err(input(&format!("{size} bytes are too many: a repro file has at most {SIZE_MAX}")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| input(&format!("cannot be read: {error}")))?;
    let mut repro = ReproFile::from_text(&text).map_err(|error| input(&error))?;
    faults::rename(&mut repro.plan);
    let named = picklock_programs::recorded(&repro.design, repro.repro);
    let mut design = choose::design(&named).map_err(|error| input(&error))?;
    design.topology.replicated |= repro.replicated;
    design.admits(&repro.plan).map_err(|error| input(&ReproError::Plan(error)))?;
    let recorded: Engine = repro.engine.parse().map_err(|error: String| input(&error))?;
    let engine = args.engine.unwrap_or(recorded);
    let run =
        check::check(options(args, engine), &design, repro.plan.clone()).map_err(|error| match error {
            CheckError::Workload(_) => input(&error),
            CheckError::Panicked(_) => Failure::from(error),
        })?;
    let mut notes = vec![compare(&repro, &run, engine == recorded)];
    let other_run = engine == recorded && repro.is_its_digest(run.trace.digest) == Some(false);
    notes.extend(changes(&repro.parts, &design.parts, other_run));
    let line = format!("picklock replay {}", quoted(&file.display().to_string()));
    // It holds a plan, and not the scenario that the plan was drawn from.
    let about = about(&design, &[]);
    let replayed =
        Replayed { design, scenario: repro.scenario, about, engine, run, line, leading: None, notes };
    reduced(args, replayed)
}

/// The description of a design and its scenarios.
fn about(design: &Design, scenarios: &[Scenario]) -> About {
    About { libraries: campaign::libraries(), ..About::of(std::slice::from_ref(design), scenarios) }
}

/// The parts that the program has now and had not then, and the other way round.
fn changes(then: &[Part], now: &[Part], other_run: bool) -> Option<String> {
    let changed = |part: &&Part| !then.contains(part);
    let missing = |part: &&Part| !now.iter().any(|other| other.file == part.file);
    let files: Vec<&str> = now
        .iter()
        .filter(changed)
        .chain(then.iter().filter(missing))
        .map(|part| part.file.as_str())
        .collect();
    if !files.is_empty() {
        return Some(format!(
            "the program is not the one of the repro file: other contents of {}",
            files.join(", ")
        ));
    }
    // The run would be the same if nothing else had changed: what a program imports is not among its files.
    let loads = "the files of the command are those of the repro file: what they load, such as a module, may be another";
    (other_run && !now.is_empty()).then(|| loads.to_owned())
}

fn compare(repro: &ReproFile, run: &Checked, same_engine: bool) -> String {
    let violations =
        if repro.violations == run.violated() { "the same violations" } else { "other violations" };
    if !same_engine {
        return format!("compared with the repro file: {violations}; digests differ from engine to engine");
    }
    let here = env!("CARGO_PKG_VERSION");
    match repro.is_its_digest(run.trace.digest) {
        Some(true) => "compared with the repro file: the same run to the last event".to_owned(),
        Some(false) => format!(
            "compared with the repro file: {violations}, but another digest ({} then); it was made by picklock {}, this is {here}",
            repro.digest, repro.picklock
        ),
        None => format!("compared with the repro file: {violations}; {NOT_COMPARED}"),
    }
}

fn as_json(replayed: &Replayed) -> Result<String, Failure> {
    let violations: BTreeMap<String, Vec<_>> = (replayed.run.violations())
        .map(|(invariant, findings)| (invariant.name.to_owned(), findings.to_vec()))
        .collect();
    run_json(&Run {
        design: &replayed.design.name,
        scenario: &replayed.scenario,
        seed: replayed.run.plan.seed,
        engine: &replayed.engine.to_string(),
        trace: &replayed.run.trace,
        violations: &violations,
    })
    .map_err(Failure::internal)
}

fn as_other(replayed: &Replayed, format: &Format<Story>, args: &ReplayArgs) -> Result<String, Failure> {
    let Replayed { design, scenario, run, line, .. } = replayed;
    let mut story = counterexamples::story(design, scenario, run, line.clone());
    replayed.leading.iter().for_each(|invariant| story.lead_with(invariant));
    (format.render)(&story, &screen::style(args.colours)).map_err(Failure::internal)
}

/// The run as a story, with what its violations depend on.
fn story(replayed: &Replayed, args: &ReplayArgs) -> Story {
    let Replayed { design, scenario, engine, run, line, .. } = replayed;
    let mut story = counterexamples::story(design, scenario, run, line.clone());
    replayed.leading.iter().for_each(|invariant| story.lead_with(invariant));
    if !run.violated().is_empty() {
        let patience = Patience::of(Some(args.shrink_budget));
        story.ablation = Some(ablation::of(*engine, design, run, &choose::defaults(), &patience));
    }
    story
}

fn as_text(replayed: &Replayed, args: &ReplayArgs) -> String {
    let detail = if args.full { Detail::Full } else { Detail::Relevant };
    let mut text = timeline::render(&story(replayed, args), &screen::style(args.colours), detail);
    let violated = replayed.run.violated();
    let violations = if violated.is_empty() { "none".to_owned() } else { violated.join(", ") };
    let (engine, digest) = (replayed.engine, replayed.run.trace.digest);
    text.push_str(&format!("violations: {violations}\nengine: {engine}\ndigest: {digest}\n"));
    for note in &replayed.notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}
