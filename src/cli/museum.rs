//! `picklock museum`: bugs of real libraries, shown on the real packages.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use picklock::museum::{self, Bug, EXHIBITS, Exhibit, Outcome, Request, Strategy};
use picklock_campaign::campaign::Silent;
use picklock_model::text::nearest;

use super::args::{CONFIRMING, ColourOptions, HOW_MANY, REPORT, SHRINK_BUDGET, WHAT, jobs, time};
use super::exit::{Exit, Failure};
use super::{format, progress, screen};

/// A group of options in the help.
const PACKAGES: &str = "Packages";

#[derive(Args)]
#[command(after_help = "\
Without a name it lists the bugs. With a name, or --all, it fetches the affected and the fixed version of the package from \
its registry, with the tools of the language (npm, pip, go, mvn, cargo), checks all checksums, builds the adapter, and runs \
both. A package that cannot be fetched is named, and the other bugs run. A folder needs a file locked.toml, which --lock writes.

Exit codes:
  0  each bug that ran shows in the affected version, and not in the fixed one
  1  a bug does not
  2  wrong usage, or a folder or a package is refused: a name, a version, a checksum, a link
  3  no package could be fetched, or no bug can be explored

Examples:
  picklock museum
  picklock museum redis-semaphore-175
  picklock museum redis-py-818 --strategy explore
  picklock museum ./my-bug --lock
  picklock museum ./my-bug
  picklock museum --all --format markdown")]
pub(crate) struct MuseumArgs {
    /// Bugs by name, or folders that hold one (a path with a `/`)
    #[arg(value_name = "NAME|FOLDER")]
    names: Vec<String>,
    /// All bugs
    #[arg(long, conflicts_with = "names", help_heading = WHAT)]
    all: bool,
    /// Write locked.toml into the folder of each bug: the version and the checksum of each package that is fetched
    #[arg(long, help_heading = PACKAGES)]
    lock: bool,
    /// Only bugs of this language
    #[arg(long, value_name = "LANGUAGE", help_heading = WHAT)]
    language: Option<String>,
    /// The choice of the runs in which the violation is searched for
    #[arg(long, value_enum, default_value_t, help_heading = HOW_MANY)]
    strategy: Strategy,
    /// Runs of the affected version; those of bug.toml if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = HOW_MANY)]
    runs: Option<u64>,
    /// The directory for packages [default: picklock/museum in the cache directory of the user]
    #[arg(long, value_name = "DIR", help_heading = PACKAGES)]
    packages: Option<PathBuf>,
    /// Shrink the first violation for no longer than this
    #[arg(long, value_name = "TIME", value_parser = time, default_value = SHRINK_BUDGET, help_heading = CONFIRMING)]
    shrink_budget: Duration,
    /// text, markdown or json
    #[arg(long, default_value = "text", help_heading = REPORT)]
    format: String,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = HOW_MANY)]
    jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    colours: ColourOptions,
}

const FORMATS: [&str; 3] = ["text", "markdown", "json"];

pub(crate) fn museum(args: &MuseumArgs) -> Result<Exit, Failure> {
    if !FORMATS.contains(&args.format.as_str()) {
        return Err(format::unknown(&args.format, "", &FORMATS));
    }
    let bugs = chosen(args)?;
    if args.lock {
        return lock(args, &bugs);
    }
    if args.names.is_empty() && !args.all {
        screen::print(&match args.format.as_str() {
            "markdown" => museum::listed(&bugs),
            "json" => format!("{:#}\n", museum::listed_json(&bugs)),
            _ => museum::list(&bugs),
        })?;
        return Ok(Exit::Expected);
    }
    for (exhibit, bug) in &bugs {
        exhibit.check_locked(bug).map_err(Failure::input)?;
    }
    let request = Request {
        packages: packages(args)?,
        jobs: args
            .jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZero::<usize>::MIN),
        runs: args.runs,
        strategy: args.strategy,
        shrink_budget: args.shrink_budget,
    };
    let width = screen::style(args.colours).width;
    let stop = progress::stop_on_interrupt()?;
    let mut outcomes = Vec::new();
    for (exhibit, bug) in &bugs {
        let spinner = progress::Spinner::new();
        spinner.says(exhibit.name.clone());
        let outcome = museum::reproduce(exhibit, &request, &stop, &Silent);
        spinner.clear();
        if args.format == "text" {
            // Each as soon as it is there: all together take long.
            screen::print(&format!("{}\n", museum::text((exhibit, bug, &outcome), width)))?;
        }
        outcomes.push(outcome);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let rows: Vec<museum::Row<'_>> =
        bugs.iter().zip(&outcomes).map(|((exhibit, bug), outcome)| (exhibit, bug, outcome)).collect();
    screen::print(&match args.format.as_str() {
        "markdown" => museum::markdown(&rows, args.strategy),
        "json" => format!("{:#}\n", museum::json(&rows, args.strategy)),
        _ => format!("{}\n", museum::summary(&rows)),
    })?;
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { exit(&outcomes) })
}

/// Locks the bugs asked for, in their folders.
fn lock(args: &MuseumArgs, bugs: &[(Exhibit, Bug)]) -> Result<Exit, Failure> {
    if args.names.is_empty() && !args.all {
        return Err(Failure::Input("--lock needs a name, a folder or --all".to_owned()));
    }
    let packages = packages(args)?;
    let stop = progress::stop_on_interrupt()?;
    for (exhibit, bug) in bugs {
        let folder = Path::new(&*exhibit.folder);
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(Failure::Input(format!("{folder}: there is no such folder; --lock writes into it")));
        }
        let spinner = progress::Spinner::new();
        spinner.says(exhibit.name.clone());
        let text = museum::lock(exhibit, bug, &packages, &stop);
        spinner.clear();
        let text = text.map_err(|error| Failure::Input(format!("{}: {error}", exhibit.folder)))?;
        let path = museum::write_locked(folder, &text).map_err(Failure::input)?;
        screen::print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Expected)
}

/// The exit code for what became of the bugs.
fn exit(outcomes: &[Outcome]) -> Exit {
    let wrong = |outcome: &Outcome| matches!(outcome, Outcome::Missing(error) if error.is_refusal());
    let all: Vec<Option<bool>> = outcomes.iter().map(Outcome::is_as_described).collect();
    if outcomes.iter().any(wrong) {
        Exit::Usage
    } else if all.contains(&Some(false)) {
        Exit::Violation
    } else if all.contains(&Some(true)) {
        Exit::Expected
    } else {
        Exit::Inconclusive
    }
}

/// The bugs asked for; all if none is named.
fn chosen(args: &MuseumArgs) -> Result<Vec<(Exhibit, Bug)>, Failure> {
    let exhibits: Vec<Exhibit> = match args.names.is_empty() {
        true => EXHIBITS.to_vec(),
        false => args.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
    };
    let mut bugs = Vec::new();
    for exhibit in exhibits {
        let bug = exhibit.bug().map_err(Failure::input)?;
        let is_asked_for = |language: &String| language.eq_ignore_ascii_case(&bug.language);
        if args.language.as_ref().is_none_or(is_asked_for) {
            bugs.push((exhibit, bug));
        }
    }
    Ok(bugs)
}

/// The bug of this name, or in this folder.
fn find(name: &str) -> Result<Exhibit, Failure> {
    if name.contains('/') {
        return Exhibit::read(Path::new(name)).map_err(Failure::input);
    }
    museum::named(name).cloned().ok_or_else(|| {
        let near = nearest(name, EXHIBITS.iter().map(|exhibit| &*exhibit.name));
        let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        Failure::Input(format!(
            "there is no bug `{name}`{hint}; `picklock museum` shows them all, and a folder is named by a path with a `/`"
        ))
    })
}

/// The directory for packages: as the user says, or in the cache directory by the XDG rules.
fn packages(args: &MuseumArgs) -> Result<PathBuf, Failure> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || {
        let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        cache.map(|cache| cache.join("picklock/museum"))
    };
    let dir = args.packages.clone().or_else(cache).ok_or_else(|| {
        Failure::Input("there is no cache directory: name a directory with --packages".to_owned())
    })?;
    // Commands run in other directories.
    std::path::absolute(&dir).map_err(|error| Failure::Input(format!("{}: {error}", dir.display())))
}
