//! The subcommands, one file each, and what they share.

mod adapter;
mod args;
mod choose;
mod compare;
mod completions;
mod conformance;
mod doctor;
mod environment;
mod exit;
mod experiment;
mod explore;
mod format;
mod invocation;
mod judge;
mod list;
mod merge;
mod pairing;
mod programs;
mod progress;
mod replay;
mod results_dir;
mod run;
mod screen;
mod selection;
mod serve;
mod shards;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use adapter::AdapterArgs;
use compare::CompareArgs;
use conformance::ConformanceArgs;
use doctor::DoctorArgs;
use exit::Exit;
use experiment::ExperimentArgs;
use explore::ExploreArgs;
use judge::JudgeArgs;
use list::ListArgs;
use merge::MergeArgs;
use replay::ReplayArgs;
use run::RunArgs;
use serve::ServeArgs;

/// Tries to break distributed locks.
///
/// Runs the real client code of lock designs in a deterministic simulated world, injects pauses, partitions, clock
/// errors, crashes and failovers, and judges mutual exclusion in true time.
#[derive(Parser)]
#[command(name = "picklock", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  picklock run                                          the whole suite, all designs
  picklock run --design single --scenario pause         one lock, one fault
  picklock run --design 'redlock{nodes=7}' --scenario clock-step --set held=5 --set stepped=2
  picklock replay single pause 17                       show one run
  picklock run --program 'python3 lock.py' --scenario pause   a lock in any language, unmodified
  picklock compare --design single,redlock --seeds 2000
  picklock judge history.jsonl --uncertainty 5ms        a lock's history from production
  picklock experiment redlock-example                   a claim and what was measured of it
  picklock list                                         what there is
  picklock list designs single                          one thing, whole
  picklock serve --topology sentinel --port 7001        the simulated servers, for your own client

Exit codes: 0 as expected, 1 violation or an expected one not found, 2 usage or bad input, 3 inconclusive:
no fault took effect in any run, 101 internal fault, 130 interrupted; the first of 101, 2, 130, 1, 3 that applies.";

#[derive(Subcommand)]
enum Command {
    /// Show what there is: designs, bugs, scenarios, faults, invariants, formats
    List(ListArgs),
    /// Run designs against scenarios and report what broke
    Run(RunArgs),
    /// Put the shards of a campaign together, as if one process had made all of its runs
    Merge(MergeArgs),
    /// Run one seed or one saved counterexample again and show what happens
    Replay(ReplayArgs),
    /// Judge a history of a lock that was recorded elsewhere
    Judge(JudgeArgs),
    /// Run designs against scenarios and lay their figures side by side
    Compare(CompareArgs),
    /// Apply a fault at every step of a run, one run for each, and report the failures
    Explore(ExploreArgs),
    /// Make runs twice, and report where they differ and why
    Doctor(DoctorArgs),
    /// Print a program to start from, for a lock in another language
    Adapter(AdapterArgs),
    /// Run the same plans on simulated and on real servers, and name where they differ
    Conformance(ConformanceArgs),
    /// Test a statement about locks, or all of them
    Experiment(ExperimentArgs),
    /// Serve the simulated Redis on real sockets, for clients in any language
    Serve(ServeArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

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
        Command::Completions { shell } => completions::print(shell, Cli::command()),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen::complain(&failure.to_string());
            failure.exit().into()
        }
    }
}
