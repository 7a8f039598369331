//! The observer of a campaign: notified of each run and of each report.

use picklock_model::seed::Seed;

use crate::check::{CheckError, Checked};

/// One run of a campaign, as it was judged: what is needed to set it beside the run of another design with the same seed.
pub struct Judged<'a> {
    /// The design's spelling.
    pub design: &'a str,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed.
    pub seed: Seed,
    /// The run.
    pub run: &'a Checked,
}

/// One run that could not be made.
pub struct Failed<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed.
    pub seed: Seed,
    /// The error.
    pub error: &'a CheckError,
}

/// The work that was left out when the time for reducing and confirming was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RanOut {
    /// Violations that were to be reported.
    pub all: u64,
    /// Those that are reported as they were found.
    pub unreduced: u64,
    /// Those that are reduced or confirmed in part.
    pub in_part: u64,
}

/// Is notified of the progress of a campaign, from several threads.
pub trait Observer: Sync {
    /// So many more runs are done.
    fn ran(&self, runs: u64);
    /// One of them was judged so. It is dropped afterwards.
    fn judged(&self, _: &Judged<'_>) {}
    /// One of them failed, on the thread that calls this. The campaign ends with the earliest failure.
    fn failed(&self, _: &Failed<'_>) {}
    /// The runs are over and so many violations are about to be reduced and confirmed.
    fn reporting(&self, violations: u64);
    /// One of them is done.
    fn reported(&self);
    /// The time for reducing and confirming was over before all was done.
    fn ran_out(&self, _: &RanOut) {}
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {
    fn ran(&self, _: u64) {}
    fn reporting(&self, _: u64) {}
    fn reported(&self) {}
}
