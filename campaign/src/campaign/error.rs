//! The errors of a campaign.

use super::journal::{JournalError, MergeError};
use crate::check::CheckError;
use crate::counterexamples::CounterexampleError;
use crate::determinism::DifferenceReport;

/// An error that leaves a campaign without results.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A run could not be checked.
    #[error("scenario `{scenario}`: {source}{}", again(source, replay))]
    Check {
        /// The design's spelling.
        design: Box<str>,
        /// The scenario's name.
        scenario: String,
        /// The error of the run.
        source: CheckError,
        /// The command that makes the run again.
        replay: Box<str>,
    },
    /// A run was made twice, and was another one.
    #[error("{design} under {scenario}, seed {seed}, is not the same run twice:\n{difference}")]
    NotTheSame {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// The seed.
        seed: u64,
        /// The first difference between the runs, and its probable cause.
        difference: DifferenceReport,
    },
    /// A violation could not be reported.
    #[error(transparent)]
    Counterexample(#[from] CounterexampleError),
}

/// The line that shows a panic again. What cannot be tested fails in every run.
fn again(error: &CheckError, replay: &str) -> String {
    match error {
        CheckError::Panicked(panicked) if !panicked.unfit => format!("\nreplay: {replay}"),
        _ => String::new(),
    }
}

/// An error that leaves a campaign that is made in parts without results.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// As any campaign.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The runs that are done could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The parts could not be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
}
