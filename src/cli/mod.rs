//! The subcommands, one file each, and what they share.

mod adapter;
mod args;
mod choose;
mod compare;
mod completions;
mod conformance;
mod doctor;
mod exit;
mod experiment;
mod explore;
mod invocation;
mod judge;
mod list;
mod machine;
mod merge;
mod pairing;
mod programs;
mod progress;
mod replay;
mod run;
mod screen;
mod serve;
mod shards;
mod store;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::Exit;

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not errors; they too must survive a closed pipe.
            let usage = error.use_stderr();
            let _ = error.print();
            return if usage { Exit::Usage.into() } else { Exit::Expected.into() };
        }
    };
    let outcome = match cli.command {
        Command::List(args) => list::list(&args),
        Command::Run(args) => run::run(&args),
        Command::Merge(args) => merge::merge(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Judge(args) => judge::judge(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Explore(args) => explore::explore(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Conformance(args) => conformance::conformance(&args),
        Command::Adapter(args) => adapter::adapter(&args),
        Command::Experiment(args) => experiment::experiment(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Completions { shell } => completions::print(shell),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen::complain(&failure.to_string());
            failure.exit().into()
        }
    }
}
