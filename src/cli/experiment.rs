//! `picklock experiment`: what becomes of a claim when it is measured.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::Args;
use picklock::experiments::{self, Experiment, Outcome, page};
use picklock_campaign::files::write_whole;
use picklock_model::text::nearest;

use super::args::{ColourOptions, jobs};
use super::exit::{Exit, Failure};
use super::{format, progress, screen};

#[derive(Args)]
#[command(after_help = "\
Without a name it lists the experiments. The runs have fixed seeds: the same version of picklock prints the same page \
on each machine. A refuted claim is a result, not a failure: the exit code is 0.

Examples:
  picklock experiment renewal-load
  picklock experiment --all --format markdown --plots docs/pictures > docs/experiments.md")]
pub(crate) struct ExperimentArgs {
    /// Experiments by name
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All experiments
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// text, markdown or json
    #[arg(long, default_value = "text")]
    pub(crate) format: String,
    /// Write NAME.svg for each experiment that has a picture
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) colours: ColourOptions,
}

const FORMATS: [&str; 3] = ["text", "markdown", "json"];

pub(crate) fn experiment(args: &ExperimentArgs) -> Result<Exit, Failure> {
    if !FORMATS.contains(&args.format.as_str()) {
        return Err(format::unknown(&args.format, "", &FORMATS));
    }
    let chosen = chosen(args)?;
    if chosen.is_empty() {
        screen::print(&page::list(experiments::ALL))?;
        return Ok(Exit::Expected);
    }
    let jobs =
        args.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let spinner = progress::Spinner::new();
    let mut outcomes = Vec::with_capacity(chosen.len());
    for experiment in chosen {
        spinner.says(experiment.name);
        outcomes.push(experiments::make(experiment, jobs).map_err(Failure::internal)?);
    }
    spinner.clear();
    if let Some(directory) = &args.plots {
        plots(directory, &outcomes)?;
    }
    screen::print(&written(args, &outcomes))?;
    Ok(Exit::Expected)
}

fn written(args: &ExperimentArgs, outcomes: &[Outcome]) -> String {
    match args.format.as_str() {
        "markdown" => page::markdown(outcomes),
        "json" => format!("{:#}\n", page::json(outcomes)),
        _ => {
            let width = screen::style(args.colours).width;
            let pages: Vec<String> = outcomes.iter().map(|outcome| page::text(outcome, width)).collect();
            pages.join("\n")
        }
    }
}

/// Writes the pictures that there are.
fn plots(directory: &Path, outcomes: &[Outcome]) -> Result<(), Failure> {
    let failed = |path: &Path, error| Failure::Input(format!("failed to write {}: {error}", path.display()));
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    for Outcome { experiment, measured } in outcomes {
        if let Some(plot) = &measured.plot {
            let path = directory.join(format!("{}.svg", experiment.name));
            write_whole(&path, &plot.svg()).map_err(|error| failed(&path, error))?;
        }
    }
    Ok(())
}

/// The experiments asked for; none if none is named.
fn chosen(args: &ExperimentArgs) -> Result<Vec<&'static Experiment>, Failure> {
    if args.all {
        return Ok(experiments::ALL.to_vec());
    }
    let find = |name: &String| {
        experiments::named(name).ok_or_else(|| {
            let near = nearest(name, experiments::ALL.iter().map(|experiment| experiment.name));
            let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            Failure::Input(format!(
                "there is no experiment `{name}`{hint}; `picklock experiment` shows them all"
            ))
        })
    };
    args.names.iter().map(find).collect()
}
