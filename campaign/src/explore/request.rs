//! The request for an exploration.

use std::num::NonZero;
use std::time::Duration;

use picklock_model::seed::Seed;
use picklock_sim::design::Design;

use picklock_scenarios::faults::AtSite;
use picklock_scenarios::scenario::Scenario;

/// All that is to be explored.
pub struct Request<'a> {
    /// As [`Scenario::adapt`] returned it.
    pub design: &'a Design,
    /// The world and the workload; its faults are left out.
    pub scenario: &'a Scenario,
    /// The scenario with those of its faults alone that every run has, beside the one that is placed.
    pub kept: Option<&'a Scenario>,
    /// The workloads.
    pub seeds: Vec<Seed>,
    /// The kinds of faults.
    pub kinds: Vec<&'static AtSite>,
    /// How long hits last that do.
    pub lasts: Duration,
    /// On how many stores client-1 may hold, if not on all: it is cut off from the others for a lease.
    pub held: Option<u32>,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// The time for pairs, if they follow.
    pub pairs: Option<Duration>,
    /// True if the line of the program is to be read for each group of violating sites: one more run each.
    pub lines: bool,
}
