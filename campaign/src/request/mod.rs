//! The request for a campaign: all that is to be run, and the line that replays each of its runs.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use self::repeated::Repeated;
use self::shard::Shard;
use crate::expect::Expectations;
use crate::files;
use picklock_scenarios::scenario::Scenario;

pub(crate) mod observer;
pub(crate) mod repeated;
pub mod shard;

/// All that is to be run.
pub struct Campaign<'a> {
    /// The designs.
    pub designs: Vec<Design>,
    /// The scenarios, with what was set from outside.
    pub scenarios: Vec<Scenario>,
    /// The seeds of every cell.
    pub seeds: Range<u64>,
    /// The engine of the runs; violations are confirmed on turmoil whichever it is.
    pub engine: Engine,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// No further block of seeds is begun after this long.
    pub budget: Option<Duration>,
    /// The part of the runs that this process makes; all if absent.
    pub shard: Option<Shard>,
    /// Stop at the first violation that is not expected.
    pub fail_fast: bool,
    /// The violations of which one run each is reported, reduced unless `shrink` is false.
    pub reported: Reported,
    /// The runs that are made twice.
    pub repeated: Repeated,
    /// Reduce the reported runs; else they are reported as they were found.
    pub shrink: bool,
    /// The time for reducing and confirming; without an end if absent.
    pub shrink_budget: Option<Duration>,
    /// Replay the reported runs on turmoil.
    pub confirm: bool,
    /// Replay the reported runs on real servers, too.
    pub real: Option<RealServers>,
    /// Designs with which each reported plan is re-run, where they use the same servers.
    pub others: Vec<Design>,
    /// The expectations of the cells.
    pub expectations: Option<&'a Expectations>,
    /// Where repro files are written.
    pub out: Option<&'a Path>,
    /// How scenarios that are files of their own are asked for, by name.
    pub files: BTreeMap<String, String>,
    /// Arguments that each replay line needs beside design, scenario and seed, such as `--suite FILE`.
    pub replay_args: String,
    /// The settings that the scenarios have, such as `ttl=2s`. A replay line has those that its scenario knows.
    pub settings: Vec<String>,
    /// The command line, for the report.
    pub command: String,
}

/// The violations that are reduced, confirmed and reported; the others are only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// None.
    Nothing,
    /// Those that no expectation allows, and what is violated under the same seed.
    Unexpected,
    /// These, and of the others one for each family of designs and each failure: the same invariants under the same seed.
    Representative,
    /// All.
    All,
}

/// Real servers on which violations are tried as well.
#[derive(Clone)]
pub struct RealServers {
    /// The same design on them, and which they are, such as `redis-server 7.0.15`; `None` where it has none.
    pub on: fn(Design) -> Option<(Arc<str>, Design)>,
}

/// One design under one scenario.
pub(crate) struct Pairing<'a> {
    pub(crate) design: Result<Design, String>,
    pub(crate) name: String,
    pub(crate) scenario: &'a Scenario,
}

impl<'a> Campaign<'a> {
    /// Every scenario with every design, a run for each of the seeds, on this thread and the event engine, nothing reported and
    /// nothing expected.
    #[must_use]
    pub fn new(designs: Vec<Design>, scenarios: Vec<Scenario>, seeds: Range<u64>) -> Campaign<'a> {
        Campaign {
            designs,
            scenarios,
            seeds,
            engine: Engine::Event,
            jobs: NonZero::<usize>::MIN,
            budget: None,
            shard: None,
            fail_fast: false,
            reported: Reported::Nothing,
            repeated: Repeated::Sample,
            shrink: true,
            shrink_budget: None,
            confirm: false,
            real: None,
            others: Vec::new(),
            expectations: None,
            out: None,
            files: BTreeMap::new(),
            replay_args: String::new(),
            settings: Vec::new(),
            command: String::new(),
        }
    }

    /// How many runs it has if nothing stops it; of a shard about.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.cells().saturating_mul(self.seeds.end - self.seeds.start) / self.shard.map_or(1, Shard::of)
    }

    /// How many designs and scenarios say something of each other.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.pairings().iter().filter(|pairing| pairing.design.is_ok()).count() as u64
    }

    /// Every design under every scenario, design by design.
    pub(crate) fn pairings(&self) -> Vec<Pairing<'_>> {
        let of = |design: &Design| {
            let (design, name) = (design.clone(), design.name.to_string());
            let pair = move |scenario| Pairing {
                design: Scenario::adapt(scenario, &design),
                name: name.clone(),
                scenario,
            };
            self.scenarios.iter().map(pair).collect::<Vec<_>>()
        };
        self.designs.iter().flat_map(of).collect()
    }

    /// The line that replays a seed of a cell.
    pub(crate) fn replay_line(&self, pairing: &Pairing<'_>, seed: u64) -> String {
        let name = pairing.scenario.name();
        let scenario = self.files.get(name).map_or(name, String::as_str);
        let mut line = format!("picklock replay {} {} {seed}", quoted(&pairing.name), quoted(scenario));
        if self.engine != Engine::Event {
            line.push_str(&format!(" --engine {}", self.engine));
        }
        line.push_str(&self.replay_args);
        for setting in self.settings.iter().filter(|setting| pairing.scenario.knows(setting)) {
            line.push_str(&format!(" --set {}", quoted(setting)));
        }
        line
    }

    /// Where the repro file of a violation is written, if anywhere.
    pub(crate) fn repro_path(&self, pairing: &Pairing<'_>, invariant: &str) -> Option<PathBuf> {
        self.out.map(|out| files::repro(out, &pairing.name, pairing.scenario.name(), invariant))
    }
}

/// A word as a shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
