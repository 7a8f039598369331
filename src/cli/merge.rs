//! `picklock merge`: the shards of a campaign put together.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use picklock_scenarios::campaign::journal::{FILE, Part};

use super::args::{Cli, Command, MergeArgs, RunArgs};
use super::exit::{Exit, Failure};
use super::{invocation, run};

pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let parts = args.shards.iter().map(|shard| Part::read(&journal(shard)).map_err(Failure::input));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    let asked = parts.first().map(|part| part.args().to_vec()).unwrap_or_default();
    let command = invocation::command(&asked);
    let run = RunArgs { verbose: args.verbose, ..parsed(&asked, args)? };
    run::finish(&run, command, |campaign, stop, bar| campaign.merge(parts, args.partial, stop, bar))
}

/// A directory stands for the journal in it.
fn journal(named: &Path) -> PathBuf {
    if named.is_dir() { named.join(FILE) } else { named.to_owned() }
}

/// What the shards were asked for, to be shown as this command says.
fn parsed(asked: &[String], args: &MergeArgs) -> Result<RunArgs, Failure> {
    let words = std::iter::once("picklock").chain(asked.iter().map(String::as_str));
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Run(mut run)) => {
            run.selection.out.clone_from(&args.out);
            run.selection.format.clone_from(&args.format);
            run.selection.jobs = args.jobs;
            run.selection.look = args.look;
            Ok(run)
        }
        Ok(_) => Err(Failure::Input("the journals are not of `picklock run`".to_owned())),
        Err(error) => Err(Failure::Input(format!(
            "the journals were begun with arguments that are not understood: {error}"
        ))),
    }
}
