//! `picklock run`: designs against scenarios, held against what is expected.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use picklock_campaign::allow::AllowedViolations;
use picklock_campaign::campaign::journal::{FILE, Journal, Part};
use picklock_campaign::campaign::shard::Shard;
use picklock_campaign::campaign::{Campaign, RealServers, Reported, quoted};
use picklock_campaign::expect::Expectations;
use picklock_campaign::explore::exhausted::Figures;
use picklock_campaign::summary::{Cell, Summary};
use picklock_programs::servers;
use picklock_reports::Format;
use picklock_reports::formats::{brief, markdown};
use picklock_reports::manifest::Results;
use picklock_scenarios::scenario::Scenario;

use super::args::{CONFIRMING, EXPECTED, IN_PARTS, REPORT, SHRINK_BUDGET, time};
use super::choose::Chosen;
use super::exit::{Exit, Failure};
use super::results_dir::{Kind, Run};
use super::selection::Selection;
use super::{campaign, choose, invocation, results_dir, screen, shards};

#[derive(Args)]
#[command(after_help = "\
picklock knows which violations to expect of its own designs in its own scenarios. A violation that is not expected is \
a failure. If --set, --suite or a parameter of a design changes the runs, these expectations do not apply, and each \
violation is a failure, unless a file of --expect or --allow says otherwise.

With --allow, each design may violate what the file allows, and nothing else:

  no_worse_than = \"watchdog\"      # all that watchdog is known to violate
  [pause]                         # and also, under pause:
  allow = [\"mutual-exclusion\", \"no-lost-update\"]

Example:
  picklock run --design single,redlock --scenario pause --out results --format text,junit")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print all cells and all violations with their replay commands (default: a one-screen summary)
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// Stop at the first violation that is not expected
    #[arg(long, help_heading = EXPECTED)]
    pub(crate) fail_fast: bool,
    /// Do not replay violations on the second engine (turmoil) and on real servers
    #[arg(long, help_heading = CONFIRMING)]
    pub(crate) no_confirm: bool,
    /// Do not shrink the runs that violate something: report them as they were found
    #[arg(long, help_heading = CONFIRMING)]
    pub(crate) no_shrink: bool,
    /// Shrink and confirm for no longer than this; further violations are reported as they were found
    #[arg(long, value_name = "TIME", value_parser = time, default_value = SHRINK_BUDGET, help_heading = CONFIRMING)]
    pub(crate) shrink_budget: Duration,
    /// Shrink and confirm expected violations too, also when the whole suite is run
    #[arg(long, conflicts_with = "no_confirm", help_heading = CONFIRMING)]
    pub(crate) confirm_all: bool,
    /// A file of expectations, or `none`: then every violation counts
    #[arg(long, value_name = "FILE|none", help_heading = EXPECTED)]
    pub(crate) expect: Option<String>,
    /// A file of allowed violations, for locks and parameters without expectations
    #[arg(long, value_name = "FILE", conflicts_with = "expect", help_heading = EXPECTED)]
    pub(crate) allow: Option<PathBuf>,
    /// The output of `explore --format figures`: a cell (a design under a scenario) without a violation then also shows how many injection sites were explored
    #[arg(long, value_name = "FILE", help_heading = EXPECTED)]
    pub(crate) explored: Option<PathBuf>,
    /// Make only part I of N of the runs, as in 2/8; `auto` reads I and N from the environment of a parallel job (see docs/guide/campaigns.md); needs --out
    #[arg(long, value_name = "I/N|auto", value_parser = shards::parse, requires = "out", conflicts_with = "fail_fast", help_heading = IN_PARTS)]
    pub(crate) shard: Option<Shard>,
    /// Resume the newest unfinished campaign of this command; needs --out
    #[arg(long, requires = "out", help_heading = IN_PARTS)]
    pub(crate) resume: bool,
}

/// Where the runs of a campaign come from.
pub(crate) enum Source {
    /// They are made here, as these arguments ask.
    Here(Vec<String>),
    /// They were made in parts; those of some may be missing.
    Parts { parts: Vec<Part>, partial: bool },
}

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let asked = invocation::deciding();
    match (args.shard, args.selection.out.as_deref()) {
        (Some(shard), Some(out)) => part(args, shard, out, asked),
        _ => finish(args, invocation::command(&asked), Source::Here(asked)),
    }
}

/// Makes the runs of a shard, for `picklock merge`.
fn part(args: &RunArgs, shard: Shard, out: &Path, asked: Vec<String>) -> Result<Exit, Failure> {
    let campaign = Campaign { shard: Some(shard), ..campaign::of(&args.selection, args.selection.chosen()?) };
    let command = invocation::command(&asked);
    let asked_for = results_dir::Asked { out, kind: Kind::Shard, command: &command, shard: Some(shard) };
    let (run, journal) = results_dir::journalled(asked_for, &campaign, asked, args.resume)?;
    run.keep(|run| {
        let mut interrupted = false;
        let (runs, violated) = campaign::make_with(&campaign, Some(run.live()), |stop, bar| {
            let made = campaign.make_part(&journal, stop, bar);
            interrupted = stop.load(Ordering::Relaxed);
            Ok(made?)
        })?;
        screen::print(&format!(
            "shard {shard}: {runs} runs, a violation in {violated} of its cells, kept in {}\n\
             when all shards are there: picklock merge {} ...\n",
            run.shortest(FILE).display(),
            quoted(&out.display().to_string()),
        ))?;
        let exit = if interrupted { Exit::Interrupted } else { Exit::Expected };
        Ok((exit, Results::of_shard(runs, violated as u64)))
    })
}

/// Has the runs made or put together, and reports what they show.
pub(crate) fn finish(args: &RunArgs, command: String, source: Source) -> Result<Exit, Failure> {
    let selection = &args.selection;
    let formats = campaign::formats(selection, picklock_reports::ALL)?;
    let expectations = expectations(args)?;
    let mut chosen = selection.chosen()?;
    if matches!(source, Source::Here(_)) {
        campaign::settle(selection, &mut chosen)?;
    }
    let allowed_violations = allowed_violations(args, &chosen)?;
    let mut campaign = Campaign { command: command.clone(), ..campaign::of(selection, chosen) };
    let expectations = match &allowed_violations {
        Some(allowed_violations) => {
            Some(allowed_violations.expectations(&campaign.designs, &campaign.scenarios))
        }
        None => expectations,
    };
    campaign.fail_fast = args.fail_fast;
    campaign.confirm = !args.no_confirm;
    campaign.shrink = !args.no_shrink;
    campaign.shrink_budget = Some(args.shrink_budget);
    campaign.real = servers::installed().filter(|_| campaign.confirm).map(|_| RealServers {
        on: |design| {
            let version = servers::version(design.store.as_ref()?.spec.name())?;
            Some((version.into(), servers::on_real_servers(design).ok()?))
        },
    });
    // A page of many cells shows no story of expected violations.
    let shows = args.verbose
        || selection.out.is_some()
        || formats.iter().any(|format| format.name != "text")
        || campaign.cells() <= brief::FEW;
    let thorough =
        args.confirm_all || (shows && !args.no_confirm && args.allow.is_none() && is_choice(selection));
    campaign.reported = match selection.out {
        _ if thorough => Reported::All,
        Some(_) => Reported::Representative,
        None => Reported::Unexpected,
    };
    campaign.expectations = expectations.as_ref();
    let figures = args.explored.as_deref().map(Figures::load).transpose().map_err(Failure::input)?;
    let done = match (campaign.shrink, campaign.confirm) {
        (true, true) => Some("reduced, confirmed"),
        (true, false) => Some("reduced"),
        (false, true) => Some("confirmed"),
        (false, false) => None,
    };
    if let Some(done) = done.filter(|_| campaign.reported == Reported::Representative) {
        // If standard error is closed, the note is lost and the runs go on.
        let _ = writeln!(
            io::stderr().lock(),
            "picklock: note: after the runs, one violation of each failure of each design is {done} and saved as a file: up to {:?} \
             more (--shrink-budget)",
            args.shrink_budget,
        );
    }
    let report = Report { args, formats, allowed_violations, figures };
    let Some(out) = selection.out.as_deref() else {
        return report.write(&campaign, source, None, None).map(|(exit, _)| exit);
    };
    let asked = |kind| results_dir::Asked { out, kind, command: &command, shard: None };
    let (run, journal) = match &source {
        Source::Parts { .. } => (Run::begin(asked(Kind::Merge))?, None),
        Source::Here(words) => {
            let (run, journal) =
                results_dir::journalled(asked(Kind::Run), &campaign, words.clone(), args.resume)?;
            (run, Some(journal))
        }
    };
    run.keep(|run| {
        let campaign = Campaign { out: Some(run.folder()), ..campaign };
        report.write(&campaign, source, journal.as_ref(), Some(run))
    })
}

/// How the results of a campaign are reported.
struct Report<'a> {
    args: &'a RunArgs,
    formats: Vec<&'static Format<Summary>>,
    allowed_violations: Option<AllowedViolations>,
    figures: Option<Figures>,
}

impl Report<'_> {
    /// Has the results, and reports them.
    fn write(
        &self,
        campaign: &Campaign<'_>,
        source: Source,
        journal: Option<&Journal>,
        saved: Option<&Run>,
    ) -> Result<(Exit, Results), Failure> {
        let Report { args, formats, .. } = self;
        let selection = &args.selection;
        let mut interrupted = false;
        let mut summary = campaign::make_with(campaign, saved.map(Run::live), |stop, bar| {
            let summary = match (source, journal) {
                (Source::Parts { parts, partial }, _) => campaign.merge(parts, partial, stop, bar)?,
                (Source::Here(_), Some(journal)) => campaign.go_on(journal, stop, bar)?,
                (Source::Here(_), None) => campaign.run(stop, bar)?,
            };
            // What `merge --partial` puts together is partial too.
            interrupted = summary.partial && stop.load(Ordering::Relaxed);
            Ok(summary)
        })?;
        campaign::near(&mut summary, campaign);
        summary.about.libraries = campaign::libraries();
        if let Some(figures) = &self.figures {
            for cell in &mut summary.cells {
                let scenario = campaign.scenarios.iter().find(|scenario| scenario.name() == cell.scenario);
                scenario.into_iter().for_each(|scenario| figures.put_beside(cell, scenario));
            }
        }
        let always = campaign::named(picklock_reports::ALL, &["json"]);
        campaign::report(&summary, selection, saved, formats, &always, |format, summary, style| {
            if format.name == "text" && !args.verbose {
                Ok(brief::page(summary, style, selection.out.as_deref()))
            } else {
                campaign::render(format, summary, style)
            }
        })?;
        if formats.iter().any(|format| format.name == "github") {
            summarise(&summary)?;
        }
        let cells = || summary.cells.iter().map(|cell| (cell.scenario.as_str(), cell));
        for note in self
            .allowed_violations
            .iter()
            .flat_map(|allowed_violations| allowed_violations.not_needed(cells()))
        {
            // If standard error is closed, a hint is lost, and nothing of the results.
            let _ = writeln!(io::stderr().lock(), "{note}");
        }
        let exit = if interrupted { Exit::Interrupted } else { exit(&summary) };
        Ok((exit, Results::of(&summary)))
    }
}

/// Adds the page to the summary of a job of GitHub Actions, if this is one.
fn summarise(summary: &Summary) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let page = campaign::render(&markdown::FORMAT, summary, &screen::file_style())?;
    // It is the job's file, and holds what earlier steps wrote.
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(page.as_bytes())).map_err(|error| {
        Failure::Input(format!(
            "failed to write GITHUB_STEP_SUMMARY, {}: {error}",
            Path::new(&path).display()
        ))
    })
}

/// True if the user has chosen what to run: then also what is expected of it is looked at closely. Of the whole suite that
/// would be two thirds of the time, for stories that nobody reads.
fn is_choice(selection: &Selection) -> bool {
    !selection.design.is_empty() || selection.programs.any() || !selection.scenario.is_empty()
}

/// Expectations hold for the built-in suite as it is: with anything set from outside, or a scenario from a file that
/// may share its name with a built-in one, only a file named on the command line is used.
fn expectations(args: &RunArgs) -> Result<Option<Expectations>, Failure> {
    let selection = &args.selection;
    let own = selection.scenario.iter().any(|name| choose::is_file(name));
    let changed = own || !selection.set.is_empty() || selection.suite.is_some();
    match args.expect.as_deref() {
        Some("none") => Ok(None),
        Some(file) => Expectations::load(Path::new(file)).map(Some).map_err(Failure::input),
        None if changed => Ok(None),
        None => Ok(Some(Expectations::builtin())),
    }
}

/// The allowed violations under the known scenarios.
fn allowed_violations(args: &RunArgs, chosen: &Chosen) -> Result<Option<AllowedViolations>, Failure> {
    let Some(file) = &args.allow else { return Ok(None) };
    let mut known: Vec<&str> = chosen.scenarios.iter().chain(&chosen.suite).map(Scenario::name).collect();
    known.sort_unstable();
    known.dedup();
    AllowedViolations::load(file, &known).map(Some).map_err(Failure::input)
}

/// The exit code for the results, partial or not.
fn exit(summary: &Summary) -> Exit {
    let failed =
        |cell: &Cell| cell.met == Some(false) || (cell.expected.is_none() && !cell.violations.is_empty());
    let runs: u64 = summary.cells.iter().map(|cell| cell.runs).sum();
    let unknown: u64 = summary.cells.iter().map(|cell| cell.unknown).sum();
    if summary.cells.iter().any(failed) {
        Exit::Violation
    } else if runs == unknown {
        Exit::Inconclusive
    } else {
        Exit::Expected
    }
}
