//! The arguments, as clap reads them.

use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use picklock_scenarios::scenario::span::Span;
use picklock_sim::engine::Engine;

/// Tries to break distributed locks.
///
/// Runs the real client code of lock designs in a deterministic simulated world, injects pauses, partitions, clock
/// errors, crashes and failovers, and judges mutual exclusion in true time.
#[derive(Parser)]
#[command(name = "picklock", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  picklock run                                          the whole suite, all designs
  picklock run --design single --scenario pause         one lock, one fault
  picklock run --design 'redlock{nodes=7}' --scenario clock-step --set held=5 --set stepped=2
  picklock replay single pause 17                       tell one run
  picklock compare --design single,redlock --seeds 2000
  picklock list designs                                 what there is

Exit codes: 0 as expected, 1 violation or an expected one not found, 2 usage or bad input, 3 nothing was
exercised, 101 internal fault, 130 interrupted; the first of 101, 2, 130, 1, 3 that applies.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show what there is: designs, scenarios, faults, invariants, formats
    List(ListArgs),
    /// Run designs against scenarios and report what broke
    Run(RunArgs),
    /// Run one seed or one saved counterexample again and tell what happens
    Replay(ReplayArgs),
    /// Run designs against scenarios and lay their figures side by side
    Compare(CompareArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub(crate) struct ListArgs {
    /// What to list; everything if absent
    #[arg(value_enum)]
    pub(crate) what: Option<Listing>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Lock designs with their parameters
    Designs,
    /// Scenarios of the built-in suite with what can be set
    Scenarios,
    /// Faults with their parameters
    Faults,
    /// What is judged
    Invariants,
    /// Report formats
    Formats,
}

/// Which runs are made; shared by `run` and `compare`.
#[derive(Args)]
pub(crate) struct Selection {
    /// Designs, separated by commas, as in 'redlock{nodes=7},single'; all if absent
    #[arg(long, value_name = "A,B")]
    pub(crate) design: Vec<String>,
    /// Scenarios by name, or scenario files (*.toml), separated by commas; all of the suite if absent
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    pub(crate) scenario: Vec<String>,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Set a parameter of the scenarios, as in ttl=2s or pause.for=1s..2s; may be repeated
    #[arg(long, value_name = "K=V")]
    pub(crate) set: Vec<String>,
    /// How many seeds from 0 on, or a half-open range A..B
    #[arg(long, value_name = "N|A..B", value_parser = seeds)]
    pub(crate) seeds: Option<Range<u64>>,
    /// Begin no further runs after this long, as in 60s
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) budget: Option<Duration>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// The engine of the runs
    #[arg(long, default_value = "event", value_parser = engine)]
    pub(crate) engine: Engine,
    /// Report formats, separated by commas (see `picklock list formats`)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', default_value = "text")]
    pub(crate) format: Vec<String>,
    /// Write the reports, and a capsule for each violation, into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How things are printed.
#[derive(Args, Clone, Copy)]
pub(crate) struct Look {
    /// Colours: auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Args)]
#[command(after_help = "\
Without --expect, the built-in designs under the built-in suite are held against the expectations that come with
picklock, as far as nothing is changed by --set, --suite or design parameters; any other violation counts.

Example: picklock run --design single,redlock --scenario pause --seeds 2000 --out results --format text,junit")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Stop at the first violation that is not expected
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Do not replay violations on the turmoil engine
    #[arg(long)]
    pub(crate) no_confirm: bool,
    /// A file of expectations, or `none`: then every violation counts
    #[arg(long, value_name = "FILE|none")]
    pub(crate) expect: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  picklock replay single pause 17
  picklock replay results/capsules/single.pause.mutual-exclusion.json
  picklock replay single pause 17 --format json | jq .digest")]
pub(crate) struct ReplayArgs {
    /// A design, a scenario and a seed; or one capsule file
    #[arg(required = true, num_args = 1..=3, value_names = ["DESIGN SCENARIO SEED | FILE"])]
    pub(crate) run: Vec<String>,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Set a parameter of the scenario
    #[arg(long, value_name = "K=V")]
    pub(crate) set: Vec<String>,
    /// The engine; that of the capsule, or event, if absent
    #[arg(long, value_parser = engine)]
    pub(crate) engine: Option<Engine>,
    /// text or json
    #[arg(long, default_value = "text")]
    pub(crate) format: String,
    /// Show every event, not only those that matter to the violation
    #[arg(long)]
    pub(crate) full: bool,
    /// Reduce the run first, to what its first violation needs
    #[arg(long)]
    pub(crate) shrink: bool,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
#[command(after_help = "\
All designs run on the same seeds, so the figures are paired. A violation is a figure here: the exit code is 0.

Example: picklock compare --design single,watchdog,redlock --scenario pause,client-partition --seeds 2000")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number =
        |part: &str| part.parse::<u64>().map_err(|_| format!("`{part}` is not a whole number from 0 up"));
    let range = match text.split_once("..") {
        None => 0..number(text)?,
        Some((from, until)) => number(from)?..number(until)?,
    };
    if range.is_empty() { Err(format!("`{text}` holds no seed; A..B needs A below B")) } else { Ok(range) }
}

fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<Span>() {
        Ok(Span::Fixed(time)) => Ok(time),
        Ok(Span::Leases { .. }) => Err("a budget is a time like 60s or 5m".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn engine(text: &str) -> Result<Engine, String> {
    text.parse()
}
