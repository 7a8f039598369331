//! The results of a campaign as data: what every report format reads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use picklock_judge::metrics::Metrics;

use crate::about::About;
use crate::story::Story;

/// The version of the JSON report's schema. Fields may be added within a version; none is renamed or removed.
pub const SCHEMA: u32 = 3;

/// The results of one `run` or `compare`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The command line that makes these results again.
    pub command: String,
    /// True if the campaign was stopped before its end: the numbers are those of the runs made until then.
    pub partial: bool,
    /// One for each design and scenario, designs in the order asked for, scenarios within.
    pub cells: Vec<Cell>,
    /// The descriptions of their designs and scenarios. Not part of the JSON report.
    #[serde(skip)]
    pub about: About,
}

/// The results of one design under one scenario.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// The design's spelling.
    pub design: String,
    /// The scenario's name.
    pub scenario: String,
    /// The engine's name.
    pub engine: String,
    /// Runs made.
    pub runs: u64,
    /// Of these, inconclusive runs: without a violation, and with nothing put to the test.
    pub unknown: u64,
    /// The reason why the scenario does not apply to this design, if so; then there are no runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The lease that clients ask for, in nanoseconds, where the design's store grants none that is as short as the scenario's. What the
    /// scenario gives in leases, such as the length of a pause, is in these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_lease_ns: Option<u64>,
    /// Invariants that do not apply to this design.
    pub not_applicable: Vec<String>,
    /// For each of the others, the runs by what they said of it.
    pub invariants: BTreeMap<String, Judged>,
    /// The invariants violated.
    pub violations: BTreeMap<String, Violation>,
    /// Runs in which a fault hit the attempt that was granted or the grant that was held; where no fault is scheduled, runs in
    /// which somebody waited for somebody.
    pub hit_lock: u64,
    /// For each fault, the runs in which it made a difference.
    pub took_effect: BTreeMap<String, u64>,
    /// For each request that a simulated store refused because it does not have it, the runs in which it did. A run in which one
    /// did is inconclusive unless it violates something, and nobody is said to be blocked in it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_modelled: BTreeMap<String, u64>,
    /// For faults that an exploration placed everywhere, what it tried and found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<Exhausted>,
    /// The expectation of this cell; absent without an expectation file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// True if the results are as expected; absent if there is no expectation or too few runs for a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// The reason why the expectation was not met, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet_because: Option<String>,
    /// Measures taken over all runs.
    pub metrics: Metrics,
}

impl Cell {
    /// True if the expectation file names or allows a violation of this invariant.
    #[must_use]
    pub fn allows(&self, invariant: &str) -> bool {
        self.expected.as_ref().is_some_and(|expected| {
            expected.violated.iter().chain(&expected.may).any(|allowed| allowed == invariant)
        })
    }
}

/// The runs of a cell by what they said of one invariant. A run in which it does not apply is none of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Runs in which it was kept, or violated.
    pub decided: u64,
    /// Of these, runs in which it was violated.
    pub violated: u64,
    /// Runs that put it to the test, and ended before it was decided or cannot be judged.
    pub undecided: u64,
    /// Runs that did not put it to the test.
    pub not_asked: u64,
    /// The reason of the undecided run with the lowest seed.
    pub undecided_because: Option<Reason>,
}

/// Why a run is undecided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The run's seed.
    pub seed: u64,
    /// The reason in words.
    pub why: String,
}

impl Judged {
    /// Adds the runs of another one of the same cell and invariant.
    pub fn merge(&mut self, other: Judged) {
        self.decided += other.decided;
        self.violated += other.violated;
        self.undecided += other.undecided;
        self.not_asked += other.not_asked;
        self.undecided_because =
            self.undecided_because.take().into_iter().chain(other.undecided_because).min();
    }
}

/// The results of an exploration for one fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exhausted {
    /// The fault.
    pub fault: String,
    /// At how many places it can hit.
    pub sites: u64,
    /// At how many of them it was tried.
    pub explored: u64,
    /// How many of these violate something.
    pub violating: u64,
}

/// The entry of a cell in the expectation file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Invariants that must be found violated, in name order; none means that all hold.
    pub violated: Vec<String>,
    /// Invariants that may be found violated or not: rare, or a consequence of those above.
    pub may: Vec<String>,
    /// Within how many runs the violations must be found.
    pub within: u64,
}

/// One invariant violated in one cell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Violation {
    /// Runs in which it was violated.
    pub runs: u64,
    /// The lowest seed in which it was.
    pub first_seed: u64,
    /// The command line that replays that seed.
    pub replay: String,
    /// The file that holds the reduced run, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repro: Option<PathBuf>,
    /// How often the reduced run was seen on the second engine, or the run as it was found, if the time was over before it was
    /// reduced; absent if that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
    /// How often it was seen with real servers; absent if there were none, or it is judged by records that these do not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<SeenWith>,
    /// The reduced run; the same one for all that it shows. Not part of the JSON report.
    #[serde(skip)]
    pub story: Option<Arc<Story>>,
}

/// How often a violation was seen on the second engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confirmed {
    /// Network seeds under which it was seen.
    pub seen: u32,
    /// Network seeds tried.
    pub of: u32,
}

/// How often a violation was seen with real servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenWith {
    /// Which these were.
    pub servers: Arc<str>,
    /// Under how many network seeds it was seen.
    #[serde(flatten)]
    pub counts: Confirmed,
}
