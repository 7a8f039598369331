//! The results of a campaign as data: what every report format reads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::story::Story;

/// The version of the JSON report's schema. Fields may be added within a version; none is renamed or removed.
pub const SCHEMA: u32 = 1;

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
    /// What their designs and scenarios are. Not part of the JSON report.
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
    /// Of these, runs without a violation that exercised nothing.
    pub unknown: u64,
    /// Why the scenario says nothing of this design, if so; then there are no runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Invariants that say nothing of this design.
    pub not_applicable: Vec<String>,
    /// The invariants violated.
    pub violations: BTreeMap<String, Violation>,
    /// Runs in which a fault struck the attempt that was granted or the grant that was held; where no fault is scheduled, runs in
    /// which somebody waited for somebody.
    pub decided: u64,
    /// For each fault, the runs in which it made a difference.
    pub bit: BTreeMap<String, u64>,
    /// For faults that an exploration placed everywhere, what it tried and found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<Exhausted>,
    /// What the expectation file says of this cell; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// Whether the results are as expected; absent if there is no expectation or too few runs to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// Why the expectation was not met, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet_because: Option<String>,
    /// Measures taken over all runs.
    pub metrics: Metrics,
}

impl Cell {
    /// Whether the expectation file names or allows a violation of this invariant.
    #[must_use]
    pub fn allows(&self, invariant: &str) -> bool {
        self.expected.as_ref().is_some_and(|expected| {
            expected.violated.iter().chain(&expected.may).any(|allowed| allowed == invariant)
        })
    }
}

/// What an exploration tried of one fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exhausted {
    /// The fault.
    pub fault: String,
    /// At how many places it can strike.
    pub placements: u64,
    /// At how many of them it was tried.
    pub explored: u64,
    /// How many of these violate something.
    pub violating: u64,
}

/// What the expectation file says of a cell.
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
    pub capsule: Option<PathBuf>,
    /// How often the reduced run was seen on the second engine; absent if that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
    /// How often it was seen with real servers; absent if there were none, or it is judged by records that these do not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<SeenWith>,
    /// The reduced run, for telling it; the same one for all that it shows. Not part of the JSON report.
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

/// Measures over the runs of a cell. Sums and maxima, so that they can be merged in any order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Sections that asked for the lock.
    pub asked: u64,
    /// Sections that got it.
    pub granted: u64,
    /// Sections that asked while another one asked for or had the same key.
    pub contended: u64,
    /// Messages sent from clients to stores while acquiring.
    pub acquire_messages: u64,
    /// True time during which some section wanted a key and none held it, in nanoseconds.
    pub blocked_ns: u64,
    /// True time during which some section wanted or held a key, in nanoseconds.
    pub wanted_ns: u64,
    /// Latencies of successful acquires.
    pub latency: Latencies,
    /// True time that was simulated, in nanoseconds.
    pub run_ns: u64,
    /// True time in which two holders believed at the same time, in nanoseconds; pairs are summed.
    pub overlap_ns: u64,
    /// The widest of these overlaps, in nanoseconds.
    pub overlap_widest_ns: u64,
    /// The longest time in one run from the first of its overlaps to the end of the last, in nanoseconds.
    pub overlap_window_ns: u64,
    /// How long the longest fault lasted in that run, in nanoseconds; 0 if none lasts.
    pub overlap_fault_ns: u64,
    /// Leases that stores extended for holders.
    pub renewals: u64,
    /// The most of them within ten milliseconds of one run.
    pub renewal_peak: u64,
    /// Work of sections without a lock that was begun anew, because somebody else was faster.
    pub retries: u64,
    /// How often a waiter saw somebody served who had asked later.
    pub bypasses: u64,
    /// The most that one waiter saw.
    pub bypass_peak: u64,
    /// Holders that died.
    pub holders_died: u64,
    /// True time from their death, while others waited, until one of these was granted, in nanoseconds.
    pub wasted_ns: u64,
    /// How long holders that had lost their lease did not know it.
    pub loss_notice: Latencies,
    /// Of the holders that had lost their lease, those that never knew.
    pub losses_unnoticed: u64,
}

impl Metrics {
    /// Adds the measures of other runs.
    pub fn merge(&mut self, other: &Metrics) {
        self.asked += other.asked;
        self.granted += other.granted;
        self.contended += other.contended;
        self.acquire_messages += other.acquire_messages;
        self.blocked_ns += other.blocked_ns;
        self.wanted_ns += other.wanted_ns;
        self.latency.merge(&other.latency);
        self.run_ns += other.run_ns;
        self.overlap_ns += other.overlap_ns;
        self.overlap_widest_ns = self.overlap_widest_ns.max(other.overlap_widest_ns);
        // The two are of one run; of two with the same window, the longer fault, so that the order makes no difference.
        let longest = |of: &Metrics| (of.overlap_window_ns, of.overlap_fault_ns);
        (self.overlap_window_ns, self.overlap_fault_ns) = longest(self).max(longest(other));
        self.renewals += other.renewals;
        self.renewal_peak = self.renewal_peak.max(other.renewal_peak);
        self.retries += other.retries;
        self.bypasses += other.bypasses;
        self.bypass_peak = self.bypass_peak.max(other.bypass_peak);
        self.holders_died += other.holders_died;
        self.wasted_ns += other.wasted_ns;
        self.loss_notice.merge(&other.loss_notice);
        self.losses_unnoticed += other.losses_unnoticed;
    }
}

/// A histogram of spans with buckets a tenth of a binary order wide, so that it can be merged and never grows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Counts by bucket; see [`Latencies::record`].
    pub counts: BTreeMap<u32, u64>,
}

impl Latencies {
    /// Sub-buckets in each power of two: a percentile is exact to within one part in eight.
    const STEPS: u32 = 8;

    /// Counts one latency.
    pub fn record(&mut self, latency: Duration) {
        let ns = picklock_model::time::nanos(latency).max(1);
        let power = ns.ilog2();
        let step = ((u128::from(ns) * u128::from(Self::STEPS)) >> power) as u32 - Self::STEPS;
        *self.counts.entry(power * Self::STEPS + step).or_default() += 1;
    }

    /// The latency that `percent` in a hundred do not exceed; `None` if nothing was counted.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<Duration> {
        let total: u64 = self.counts.values().sum();
        let rank = (total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.counts.iter().find_map(|(bucket, count)| {
            seen += count;
            (seen >= rank).then(|| upper_edge(*bucket))
        })
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Latencies) {
        for (bucket, count) in &other.counts {
            *self.counts.entry(*bucket).or_default() += count;
        }
    }
}

fn upper_edge(bucket: u32) -> Duration {
    let (power, step) = (bucket / Latencies::STEPS, bucket % Latencies::STEPS);
    let ns = (u128::from(Latencies::STEPS + step + 1) << power) / u128::from(Latencies::STEPS);
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}
