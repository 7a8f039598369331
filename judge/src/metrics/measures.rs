//! The metrics of runs, in a form that can be added up.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

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
    /// Runs in which a member of a store took over while a grant was live.
    pub promotions: u64,
    /// Of these, runs in which it lacked the record of such a grant.
    pub promotions_lacking: u64,
    /// Runs in which the process of a holder stood still while another client waited.
    pub halted_holders: u64,
    /// Of these, runs in which the other client was granted the lock meanwhile.
    pub takeovers: u64,
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
        self.promotions += other.promotions;
        self.promotions_lacking += other.promotions_lacking;
        self.halted_holders += other.halted_holders;
        self.takeovers += other.takeovers;
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
