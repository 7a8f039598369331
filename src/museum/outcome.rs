//! The outcome of a bug: both versions ran, or a package is missing, or a run failed.

use std::time::Duration;

use picklock_campaign::campaign::CampaignError;
use picklock_campaign::check::CheckError;
use picklock_programs::ProgramError;
use picklock_scenarios::scenario::ScenarioError;

use super::bug::{BugError, RUNS_OF_TWIN};
use super::error::FetchError;

/// A violation, and how long it took to find.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The lowest seed that shows it: that of the run, or of the workload that is explored.
    pub first_seed: u64,
    /// Runs until it was found, with its own.
    pub runs: u64,
    /// Where the fault hit, if it was found by exploration: `pause:12`.
    pub site: Option<String>,
    /// The wall-clock time from the start of the first run until it was found.
    pub after: Duration,
    /// Events of the run.
    pub events: usize,
    /// Events of the shrunk run.
    pub shrunk: usize,
    /// The line that replays it.
    pub replay: String,
}

/// The runs of one version.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The version.
    pub version: String,
    /// Runs made.
    pub runs: u64,
    /// Of these, runs that violate the invariant.
    pub violating: u64,
    /// Of these, runs that can show nothing.
    pub inconclusive: u64,
    /// The time of all runs.
    pub took: Duration,
    /// The first violation, if any.
    pub first: Option<Found>,
}

/// What became of a bug.
#[derive(Debug)]
pub enum Outcome {
    /// Both versions ran.
    Shown {
        /// The affected version.
        affected: Observed,
        /// The fixed version, or the control.
        twin: Observed,
    },
    /// Explorations do not search for it, for this reason.
    Unexplored(String),
    /// A package could not be had.
    Missing(FetchError),
    /// A run could not be made.
    Failed(RunError),
}

impl Outcome {
    /// True if the affected version shows the bug and the other does not; `None` if they did not run, or not to the end.
    #[must_use]
    pub fn is_as_described(&self) -> Option<bool> {
        match self {
            Outcome::Shown { affected, twin } if affected.violating == 0 || twin.violating > 0 => Some(false),
            Outcome::Shown { twin, .. } if twin.runs < RUNS_OF_TWIN => None,
            // Runs that can show nothing are not silent.
            Outcome::Shown { twin, .. } => Some(twin.inconclusive < twin.runs),
            Outcome::Failed(_) => Some(false),
            Outcome::Missing(_) | Outcome::Unexplored(_) => None,
        }
    }
}

/// An error that leaves a bug without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its description is wrong.
    #[error(transparent)]
    Bug(#[from] BugError),
    /// Its scenario is wrong.
    #[error("{0}/bug.toml: {1}")]
    Scenario(String, ScenarioError),
    /// It has no such scenario.
    #[error("{0}/bug.toml: there is no scenario `{1}`, in the folder or among those of picklock")]
    NoScenario(String, String),
    /// Its command or the parameters of its program are wrong.
    #[error("{0}/bug.toml: {1}")]
    Program(String, ProgramError),
    /// The scenario does not apply.
    #[error("{0}/bug.toml: scenario `{1}` does not apply: {2}")]
    NotApplicable(String, String, String),
    /// Explorations do not search for it.
    #[error("not explored: {0}")]
    NotExplored(String),
    /// A run cannot be made.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The run of the first violation cannot be made again.
    #[error(transparent)]
    Check(#[from] CheckError),
}
