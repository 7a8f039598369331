//! `picklock merge`: the shards of a campaign put together.

use clap::Parser as _;

use super::args::{Cli, Command, MergeArgs, RunArgs};
use super::exit::{Exit, Failure};
use super::run::Source;
use super::{invocation, run, store};

pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let mut parts = Vec::new();
    for named in &args.shards {
        parts.extend(store::parts(named, args.partial)?);
    }
    let asked = parts.first().map(|part| part.args().to_vec()).unwrap_or_default();
    let command = invocation::command(&asked);
    let run = RunArgs { verbose: args.verbose, ..parsed(&asked, args)? };
    run::finish(&run, command, Source::Parts { parts, partial: args.partial })
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
