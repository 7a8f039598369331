//! The request for the runs of bugs.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use super::strategy::Strategy;

/// How bugs are run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The directory for packages.
    pub packages: PathBuf,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// Runs of the affected version; those of `bug.toml` if absent.
    pub runs: Option<u64>,
    /// How the runs are chosen.
    pub strategy: Strategy,
    /// The time for shrinking the first violation.
    pub shrink_budget: Duration,
}
