//! The arguments, as clap reads them.

use std::net::IpAddr;
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use picklock_redis::version::Version;
use picklock_scenarios::campaign::shard::Shard;
use picklock_sim::engine::Engine;
use picklock_sim::span::{Span, SpanError};

use super::adapter::AdapterArgs;
use super::conformance::ConformanceArgs;
use super::doctor::DoctorArgs;
use super::explore::ExploreArgs;
use super::judge::JudgeArgs;
use super::programs::Programs;
use super::serve::LOOPBACK;
use super::serve::topology::Topology;
use super::shards;

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
  picklock run --program 'python3 lock.py' --scenario pause   a lock in any language, unmodified
  picklock compare --design single,redlock --seeds 2000
  picklock judge history.jsonl --uncertainty 5ms        a lock's history from production
  picklock experiment redlock-example                   a claim and what was measured of it
  picklock list                                         what there is
  picklock list designs single                          one thing, whole
  picklock serve --topology sentinel --port 7001        the simulated servers, for your own client

Exit codes: 0 as expected, 1 violation or an expected one not found, 2 usage or bad input, 3 nothing was
exercised, 101 internal fault, 130 interrupted; the first of 101, 2, 130, 1, 3 that applies.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show what there is: designs, bugs, scenarios, faults, invariants, formats
    List(ListArgs),
    /// Run designs against scenarios and report what broke
    Run(RunArgs),
    /// Put the shards of a campaign together, as if one process had made all of its runs
    Merge(MergeArgs),
    /// Run one seed or one saved counterexample again and tell what happens
    Replay(ReplayArgs),
    /// Judge a history of a lock that was recorded elsewhere
    Judge(JudgeArgs),
    /// Run designs against scenarios and lay their figures side by side
    Compare(CompareArgs),
    /// Strike at every step that a run takes, one run for each, and report in which ways it breaks
    Explore(ExploreArgs),
    /// Make runs twice, and say where they differ and why
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

#[derive(Args)]
#[command(after_help = "\
Examples:
  picklock list
  picklock list scenarios
  picklock list scenarios pause
  picklock list invariants I2")]
pub(crate) struct ListArgs {
    /// What to list, a line for each; the names of everything if absent
    #[arg(value_enum)]
    pub(crate) what: Option<Listing>,
    /// One of them by its name (or number), shown whole
    pub(crate) name: Option<String>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Lock designs with their parameters
    #[value(alias = "design")]
    Designs,
    /// Locks of real libraries that had a bug, with the scenario that finds it
    #[value(alias = "bug")]
    Bugs,
    /// Scenarios of the built-in suite with what can be set
    #[value(alias = "scenario")]
    Scenarios,
    /// Faults with their parameters
    #[value(alias = "fault")]
    Faults,
    /// What is judged
    #[value(alias = "invariant")]
    Invariants,
    /// Report formats
    #[value(alias = "format")]
    Formats,
}

/// The groups of options in the help.
const WHAT: &str = "What is run";
const HOW_MANY: &str = "How many runs";
const EXPECTED: &str = "What is expected";
const CONFIRMING: &str = "Shrinking and confirming";
const REPORT: &str = "Report";
const IN_PARTS: &str = "A campaign in parts";

/// Which runs are made; shared by `run` and `compare`.
#[derive(Args)]
pub(crate) struct Selection {
    /// Designs, separated by commas, as in 'redlock{nodes=7},single'; all if absent
    #[arg(long, value_name = "A,B", help_heading = WHAT)]
    pub(crate) design: Vec<String>,
    #[command(flatten)]
    pub(crate) programs: Programs,
    /// Scenarios by name, or scenario files (*.toml), separated by commas; all of the suite if absent
    #[arg(long, value_name = "X,Y", value_delimiter = ',', help_heading = WHAT)]
    pub(crate) scenario: Vec<String>,
    /// A directory of scenario files instead of the built-in suite
    #[arg(long, value_name = "DIR", help_heading = WHAT)]
    pub(crate) suite: Option<PathBuf>,
    /// Set a parameter of the scenarios, as in ttl=2s or pause.for=1s..2s; may be repeated
    #[arg(long, value_name = "K=V", help_heading = WHAT)]
    pub(crate) set: Vec<String>,
    /// How many seeds from 0 on, or a half-open range A..B
    #[arg(long, value_name = "N|A..B", value_parser = seeds, help_heading = HOW_MANY)]
    pub(crate) seeds: Option<Range<u64>>,
    /// Seeds begin at a place that this text decides, such as a commit's hash or a date: fresh ones for each
    #[arg(long, value_name = "TEXT", help_heading = HOW_MANY)]
    pub(crate) seeds_from: Option<String>,
    /// Begin no further runs after this long, as in 60s
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = HOW_MANY)]
    pub(crate) budget: Option<Duration>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", help_heading = HOW_MANY)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// The engine of the runs
    #[arg(long, default_value = "event", value_parser = engine, help_heading = HOW_MANY)]
    pub(crate) engine: Engine,
    /// Report formats, separated by commas (see `picklock list formats`)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', default_value = "text", help_heading = REPORT)]
    pub(crate) format: Vec<String>,
    /// Keep the reports, and a capsule for each violation, in a folder of their own in this directory; DIR/index.html shows all runs
    #[arg(long, value_name = "DIR", help_heading = REPORT)]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How things are printed.
#[derive(Args, Clone, Copy)]
pub(crate) struct Look {
    /// Colours: auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = REPORT)]
    pub(crate) color: Colour,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

/// For how long violations are reduced and confirmed if nothing else is said.
const SHRINK_BUDGET: &str = "60s";

#[derive(Args)]
#[command(after_help = "\
Without --expect, the built-in designs under the built-in suite are held against the expectations that come with
picklock, as far as nothing is changed by --set, --suite or design parameters; any other violation counts. With --allow
every design may violate what the file allows, and nothing else:

  no_worse_than = \"watchdog\"                     what that design is known to violate, under each scenario
  [pause]                                          and under this one
  allow = [\"mutual-exclusion\", \"no-lost-update\"]

Example: picklock run --design single,redlock --scenario pause --seeds 2000 --out results --format text,junit")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print every cell, every violation with the line that replays it, and whole stories; else what fits on a screen
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// Stop at the first violation that is not expected
    #[arg(long, help_heading = EXPECTED)]
    pub(crate) fail_fast: bool,
    /// Do not replay violations on the turmoil engine
    #[arg(long, help_heading = CONFIRMING)]
    pub(crate) no_confirm: bool,
    /// Do not reduce violations: tell their runs as they were found
    #[arg(long, help_heading = CONFIRMING)]
    pub(crate) no_shrink: bool,
    /// Reduce and confirm for no longer than this; what is left then is told as it was found
    #[arg(long, value_name = "TIME", value_parser = time, default_value = SHRINK_BUDGET, help_heading = CONFIRMING)]
    pub(crate) shrink_budget: Duration,
    /// Reduce violations that are expected, and replay them on the turmoil engine, also when the whole suite is run
    #[arg(long, conflicts_with = "no_confirm", help_heading = CONFIRMING)]
    pub(crate) confirm_all: bool,
    /// A file of expectations, or `none`: then every violation counts
    #[arg(long, value_name = "FILE|none", help_heading = EXPECTED)]
    pub(crate) expect: Option<String>,
    /// A file of what the designs may violate, for locks and parameters of which nothing is expected
    #[arg(long, value_name = "FILE", conflicts_with = "expect", help_heading = EXPECTED)]
    pub(crate) allow: Option<PathBuf>,
    /// What `explore --format figures` wrote: a cell that holds then says what was exhausted, too
    #[arg(long, value_name = "FILE", help_heading = EXPECTED)]
    pub(crate) explored: Option<PathBuf>,
    /// Make only these of the runs, as in 2/8, or `auto`: as the environment of a parallel job says (see the guide)
    #[arg(long, value_name = "I/N|auto", value_parser = shards::parse, requires = "out", conflicts_with = "fail_fast", help_heading = IN_PARTS)]
    pub(crate) shard: Option<Shard>,
    /// Go on with the newest campaign of this command in the directory of --out that did not come to its end
    #[arg(long, requires = "out", help_heading = IN_PARTS)]
    pub(crate) resume: bool,
}

#[derive(Args)]
#[command(after_help = "\
The result is that of one process: the lowest seed of each violation is told, reduced and confirmed here. With --partial it also
shows how far a campaign has come that still goes on.

Example:
  picklock run --seeds 10000 --shard 1/2 --out part-1
  picklock run --seeds 10000 --shard 2/2 --out part-2
  picklock merge part-1 part-2 --out results")]
pub(crate) struct MergeArgs {
    /// The directories that the shards were written to, each for the newest campaign in it; or folders of single runs
    #[arg(required = true, value_name = "DIR")]
    pub(crate) shards: Vec<PathBuf>,
    /// Show what there is if shards are missing or have not come to their end
    #[arg(long)]
    pub(crate) partial: bool,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Report formats, separated by commas (see `picklock list formats`)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', default_value = "text", help_heading = REPORT)]
    pub(crate) format: Vec<String>,
    /// Keep the reports, and a capsule for each violation, in a folder of their own in this directory; DIR/index.html shows all runs
    #[arg(long, value_name = "DIR", help_heading = REPORT)]
    pub(crate) out: Option<PathBuf>,
    /// Print every cell, every violation with the line that replays it, and whole stories; else what fits on a screen
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  picklock replay single pause 17
  picklock replay results/capsules/single.pause.mutual-exclusion.json
  picklock replay single pause 17 --format json | jq .digest
  picklock replay single pause 17 --shrink --format svg > paused.svg")]
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
    /// text, json, html (a page with the diagram of the run), or one of those of single runs (see `picklock list formats`)
    #[arg(long, default_value = "text")]
    pub(crate) format: String,
    /// Show every event, not only those that matter to the violation
    #[arg(long)]
    pub(crate) full: bool,
    /// Reduce the run first, to what its violation needs: that of INVARIANT, or the one that asks for the most
    #[arg(
        long,
        value_name = "INVARIANT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) shrink: Option<String>,
    /// Reduce for no longer than this, and show what there is by then
    #[arg(long, value_name = "TIME", value_parser = time, default_value = SHRINK_BUDGET, requires = "shrink")]
    pub(crate) shrink_budget: Duration,
    /// Reduce by so many candidates at most: as far as a run was reduced when its time was over
    #[arg(long, value_name = "N", requires = "shrink")]
    pub(crate) shrink_tries: Option<u32>,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
#[command(after_help = "\
All designs run on the same seeds, so the figures are paired. A violation is a figure here: the exit code is 0, or 1 if
something is worse than in the baseline.

With --out there is a page to look at, too: DIR/report.html, with every way of breaking as a diagram.

Examples:
  picklock compare --design single,watchdog,redlock --scenario pause,client-partition --seeds 2000
  picklock compare --design single,redlock --out results")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print the tables of every scenario, with differences and measures; else what fits on a screen
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// An older comparison, as `--format json` wrote it: say what is better and what is worse, and exit with 1 if anything is worse
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    pub(crate) baseline: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Without a name it shows which experiments there are. The runs have fixed seeds: the same picklock prints the same
page anywhere. A refuted claim is a result, not a failure: the exit code is 0.

Examples:
  picklock experiment renewal-load
  picklock experiment --all --format markdown --plots docs/pictures > docs/experiments.md")]
pub(crate) struct ExperimentArgs {
    /// Experiments by name
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// text, markdown or json
    #[arg(long, default_value = "text")]
    pub(crate) format: String,
    /// Writes NAME.svg for each that has a picture
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Args)]
#[command(after_help = "\
Faults (each may be given several times, and repeated with `every TIME`):
  pause|suspend HOST at TIME for TIME
  kill|power-loss HOST at TIME [restart TIME]
  cut HOST to|from|and HOST at TIME for TIME
  delay HOST to HOST by TIME at TIME for TIME
  drop HOST and HOST at TIME
  lose-reply HOST to HOST at TIME
  step HOST by TIME|-TIME at TIME
  drift HOST by PPM at TIME
TIME counts from the start; the host `clients` is everybody who connects from outside.

Examples:
  picklock serve --port 7001
  picklock serve --topology redlock:5 --fault 'pause node-2 at 10s for 3s every 30s'
  picklock serve --topology sentinel --fault 'cut node-1 and clients at 20s for 10s'")]
pub(crate) struct ServeArgs {
    /// single, replicated, sentinel, or redlock:N
    #[arg(long, default_value_t = Topology::Single)]
    pub(crate) topology: Topology,
    /// The port of the first server; the others take the next ones
    #[arg(long, default_value_t = 7001, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// The address to listen at
    #[arg(long, default_value_t = LOOPBACK, value_name = "ADDRESS")]
    pub(crate) bind: IpAddr,
    /// Allow an address that other machines can reach; without a password they are refused, as by a real server
    #[arg(long)]
    pub(crate) expose: bool,
    /// The password that clients of all servers must give
    #[arg(long, value_name = "PASSWORD")]
    pub(crate) password: Option<String>,
    /// Take the lines that steer it from connections to this port of the loopback interface as well
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) control: Option<u16>,
    /// The version of Redis that the nodes behave like, where versions differ: 7.0 or 7.2
    #[arg(long, default_value = "7.0", value_name = "VERSION", value_parser = version)]
    pub(crate) version: Version,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// What goes wrong and when, as in 'pause node-1 at 5s for 2s'; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub(crate) fault: Vec<String>,
    /// One-way latency of messages, a time or a range A..B, on top of the machine's own
    #[arg(long, default_value = "0ms", value_name = "TIME", value_parser = latency)]
    pub(crate) latency: Range<Duration>,
    /// How long a primary may be silent before it is failed over
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = time)]
    pub(crate) down_after: Duration,
    /// Keep the data over a restart
    #[arg(long)]
    pub(crate) persistent: bool,
    /// Do not tell of faults and changes of role on standard error
    #[arg(long)]
    pub(crate) quiet: bool,
}

fn version(text: &str) -> Result<Version, String> {
    match text {
        "7.0" => Ok(Version::V7_0),
        "7.2" => Ok(Version::V7_2),
        _ => Err(format!("there is no version `{text}` here; there are 7.0 and 7.2")),
    }
}

fn latency(text: &str) -> Result<Range<Duration>, String> {
    match text.split_once("..") {
        None => time(text).map(|time| time..time),
        Some((min, max)) => {
            let (min, max) = (time(min)?, time(max)?);
            if min <= max { Ok(min..max) } else { Err(format!("`{text}` is empty; A..B needs A below B")) }
        }
    }
}

pub(super) fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number =
        |part: &str| part.parse::<u64>().map_err(|_| format!("`{part}` is not a whole number from 0 up"));
    let range = match text.split_once("..") {
        None => 0..number(text)?,
        Some((from, until)) => number(from)?..number(until)?,
    };
    if range.is_empty() { Err(format!("`{text}` holds no seed; A..B needs A below B")) } else { Ok(range) }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<Span>() {
        Ok(Span::Fixed(time)) => Ok(time),
        Ok(Span::Leases { .. }) => Err("there is no lease here: write a time like 60s or 5m".to_owned()),
        Err(SpanError::NoUnit(number)) => {
            Err(format!("`{number}` has no unit: write `{number}ms` or `{number}s`"))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn engine(text: &str) -> Result<Engine, String> {
    text.parse()
}
