//! `picklock merge`: the shards of a campaign put together.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser};

use super::args::{ColourOptions, REPORT, jobs};
use super::exit::{Exit, Failure};
use super::run::{RunArgs, Source};
use super::{invocation, results_dir, run};

#[derive(Args)]
#[command(after_help = "\
The result is the same as that of one process. The lowest seed of each violation is shrunk, confirmed and reported here. \
--partial also shows the progress of a campaign that is still running.

Example:
  picklock run --seeds 10000 --shard 1/2 --out part-1
  picklock run --seeds 10000 --shard 2/2 --out part-2
  picklock merge part-1 part-2 --out results")]
pub(crate) struct MergeArgs {
    /// The --out directories of the shards (the newest shard in each is taken), or the folders of single shards
    #[arg(required = true, value_name = "DIR")]
    pub(crate) shards: Vec<PathBuf>,
    /// Report the runs that are there, also if shards are missing or have not ended
    #[arg(long)]
    pub(crate) partial: bool,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Report formats, separated by commas (see `picklock list formats`)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', default_value = "text", help_heading = REPORT)]
    pub(crate) format: Vec<String>,
    /// Save the reports, and a repro file for each violation, in a new folder of this directory; DIR/index.html lists all folders
    #[arg(long, value_name = "DIR", help_heading = REPORT)]
    pub(crate) out: Option<PathBuf>,
    /// Print all cells and all violations with their replay commands (default: a one-screen summary)
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) colours: ColourOptions,
}

/// The arguments of a shard after `run`, as its journal has them.
#[derive(Parser)]
struct Journalled {
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let mut parts = Vec::new();
    for named in &args.shards {
        parts.extend(results_dir::parts(named, args.partial)?);
    }
    let asked = parts.first().map(|part| part.args().to_vec()).unwrap_or_default();
    let command = invocation::command(&asked);
    let run = RunArgs { verbose: args.verbose, ..parsed(&asked, args)? };
    run::finish(&run, command, Source::Parts { parts, partial: args.partial })
}

/// The arguments of the shards, with the report options of this command.
fn parsed(asked: &[String], args: &MergeArgs) -> Result<RunArgs, Failure> {
    let Some(words) = asked.strip_prefix(&["run".to_owned()]) else {
        return Err(Failure::Input("the journals are not of `picklock run`".to_owned()));
    };
    let words = std::iter::once("picklock run").chain(words.iter().map(String::as_str));
    match Journalled::try_parse_from(words) {
        Ok(Journalled { mut run }) => {
            run.selection.out.clone_from(&args.out);
            run.selection.format.clone_from(&args.format);
            run.selection.jobs = args.jobs;
            run.selection.colours = args.colours;
            Ok(run)
        }
        Err(error) => Err(Failure::Input(format!(
            "the journals were begun with arguments that are not understood: {error}"
        ))),
    }
}
