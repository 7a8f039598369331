//! Statements about locks that people make, each as an experiment: what is claimed, where, what was measured, and
//! whether that confirms it, refutes it, or confirms it under a condition.
//!
//! The statements are those of the five articles on Redis locks that the project started from, numbered 0 to 4, and of
//! the literature on Redlock. Every figure comes from simulated runs with fixed seeds, so that the same picklock prints the
//! same page anywhere.
//!
//! To add one: write its file, add its line to [`ALL`].

use std::num::NonZero;

mod budget_overlap;
mod clock_rollback;
mod cluster_minority;
mod cluster_or_sentinel;
mod database_failover;
mod etcd_or_redlock;
mod experiment;
mod granularity;
mod jepsen_etcd;
mod lab;
mod lease_clock;
mod oversell;
pub mod page;
mod plot;
mod pooled_advisory;
mod redlock_example;
mod redlock_jump;
mod redlock_quorum;
mod redlock_restart;
mod redlock_validity;
mod renewal_load;
mod renewal_proposals;
mod renewal_storm;
mod row_lock_cost;
mod safe_ttl;
mod watchdog_offset;

pub use experiment::{Experiment, Figures, Measured, Outcome, Verdict};
pub use lab::{Lab, LabError};
pub use plot::{Line, Plot};

/// Every experiment, in the order of the articles.
pub const ALL: &[&Experiment] = &[
    &safe_ttl::EXPERIMENT,
    &clock_rollback::EXPERIMENT,
    &granularity::EXPERIMENT,
    &renewal_load::EXPERIMENT,
    &renewal_storm::EXPERIMENT,
    &watchdog_offset::EXPERIMENT,
    &redlock_example::EXPERIMENT,
    &redlock_validity::EXPERIMENT,
    &redlock_quorum::EXPERIMENT,
    &redlock_restart::EXPERIMENT,
    &redlock_jump::EXPERIMENT,
    &budget_overlap::EXPERIMENT,
    &oversell::EXPERIMENT,
    &row_lock_cost::EXPERIMENT,
    &database_failover::EXPERIMENT,
    &lease_clock::EXPERIMENT,
    &pooled_advisory::EXPERIMENT,
    &etcd_or_redlock::EXPERIMENT,
    &jepsen_etcd::EXPERIMENT,
    &renewal_proposals::EXPERIMENT,
    &cluster_or_sentinel::EXPERIMENT,
    &cluster_minority::EXPERIMENT,
];

/// The experiment of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Experiment> {
    ALL.iter().copied().find(|experiment| experiment.name == name)
}

/// Makes one experiment on so many threads.
///
/// # Errors
/// When a run cannot be made, which is a fault of picklock.
pub fn make(experiment: &'static Experiment, jobs: NonZero<usize>) -> Result<Outcome, LabError> {
    let measured = (experiment.measure)(&Lab::new(jobs))?;
    Ok(Outcome { experiment, measured })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_claim_has_a_source() {
        for (at, experiment) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|other| other.name != experiment.name), "{}", experiment.name);
            assert!(!experiment.claim.is_empty() && !experiment.source.is_empty());
        }
    }
}
