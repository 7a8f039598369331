//! Which runs are made.

use std::io::{self, Write as _};
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use picklock_scenarios::scenario::set_each;
use picklock_sim::engine::Engine;

use super::args::{ColourOptions, HOW_MANY, REPORT, WHAT, budget, engine, jobs, seeds};
use super::choose::{self, Chosen};
use super::exit::Failure;
use super::programs::Programs;

/// Which runs are made; shared by `run` and `compare`.
#[derive(Args)]
pub(crate) struct Selection {
    /// Designs, separated by commas, as in 'redlock{nodes=7},single'; all of the suite if absent
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
    /// The seeds: N means 0 to N-1, A..B means A to B-1; 100 if absent, or as many as fit into --budget
    #[arg(long, value_name = "N|A..B", value_parser = seeds, help_heading = HOW_MANY)]
    pub(crate) seeds: Option<Range<u64>>,
    /// Derive the first seed from TEXT, for example a commit hash or a date
    #[arg(long, value_name = "TEXT", help_heading = HOW_MANY)]
    pub(crate) seeds_from: Option<String>,
    /// Begin no further runs after this time, as in 60s
    #[arg(long, value_name = "TIME", value_parser = budget, help_heading = HOW_MANY)]
    pub(crate) budget: Option<Duration>,
    /// Threads; one for each core if absent
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = HOW_MANY)]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// The engine of the runs: `event`, or the independent and slower `turmoil`
    #[arg(long, value_name = "event|turmoil", default_value = "event", value_parser = engine, help_heading = HOW_MANY)]
    pub(crate) engine: Engine,
    /// Report formats, separated by commas (see `picklock list formats`)
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', default_value = "text", help_heading = REPORT)]
    pub(crate) format: Vec<String>,
    /// Save the reports, and a repro file for each violation, in a new folder of this directory; DIR/index.html lists all folders
    #[arg(long, value_name = "DIR", help_heading = REPORT)]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) colours: ColourOptions,
}

impl Selection {
    /// The designs and scenarios asked for, with what is set from outside; all designs, and the whole suite, if none is named.
    pub(crate) fn chosen(&self) -> Result<Chosen, Failure> {
        let designs = self.programs.and(&self.design)?;
        let suite = choose::suite(self.suite.as_deref())?;
        let unset = choose::of_suite(&suite, &self.scenario)?;
        let mut scenarios = unset.clone();
        set_each(&mut scenarios, &self.set).map_err(Failure::input)?;
        choose::fit_autonomous(&designs, &self.set)?;
        let scaled = choose::scaled(&scenarios, &unset, &self.set);
        let capped = choose::capped(&designs, &scenarios);
        for note in choose::overruled(&designs, &self.set).into_iter().chain(capped).chain(scaled) {
            // If standard error is closed, the note is lost and the runs go on.
            let _ = writeln!(io::stderr().lock(), "picklock: note: {note}");
        }
        let open = self.programs.open(&self.design, false);
        Ok(Chosen { designs, scenarios, suite, open })
    }
}
