//! The subcommands, one file each, and what they share.

mod adapter;
mod args;
mod campaign;
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
mod interrupt;
mod invocation;
mod judge;
mod list;
mod merge;
mod museum;
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
mod unmodelled;

use std::io::{self, Write as _};
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
use museum::MuseumArgs;
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
  picklock run                                        all designs, the whole suite
  picklock run --design single --scenario pause       one design, one scenario
  picklock run --program 'python3 lock.py' --scenario pause
                                                      a lock in any language, unmodified
  picklock replay single pause 17                     show the run of seed 17
  picklock compare --design single,redlock            figures of designs, side by side
  picklock judge history.jsonl --uncertainty 5ms      a history of a lock from production
  picklock experiment redlock-example                 a claim and its measurement
  picklock list                                       the names of everything
  picklock list designs single                        all about the design `single`
  picklock serve --topology sentinel --port 7001      the simulated servers, for your own client

Exit codes:
  0    no result contradicts the expectations; too few runs for a verdict are no contradiction
  1    an unexpected violation, or an expected violation was not found;
       of `replay` and `judge`: any violation;
       of `explore`: a violation that the run without faults does not have
  2    wrong usage, bad input, or an output that cannot be written
  3    no result: all runs are inconclusive, or no scenario applies to a design
  101  internal error of picklock or of the code under test
  130  interrupted
If several apply, the first in the order 101, 2, 130, 1, 3 is given.";

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
    /// Apply a fault at each injection point of a run, one run for each, and report the violations
    Explore(ExploreArgs),
    /// Make runs twice, and report where they differ and why
    Doctor(DoctorArgs),
    /// Print a program to start from, for a lock in another language
    Adapter(AdapterArgs),
    /// Run the same plans on simulated and on real servers, and name where they differ
    Conformance(ConformanceArgs),
    /// Test a statement about locks, or all of them
    Experiment(ExperimentArgs),
    /// Show bugs of real libraries on the real packages, affected and fixed
    Museum(MuseumArgs),
    /// Serve the simulated stores on real sockets, for clients in any language
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
            let printed = error.print().and_then(|()| io::stdout().flush());
            return match printed {
                _ if usage => Exit::Usage.into(),
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    screen::complain(&format!("cannot write to standard output: {error}"));
                    Exit::Usage.into()
                }
                _ => Exit::Expected.into(),
            };
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
        Command::Museum(args) => museum::museum(&args),
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
