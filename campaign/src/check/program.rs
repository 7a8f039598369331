//! The program that a plan asks for, and why there may be none.

use picklock_model::plan::Plan;
use picklock_sim::run::{self, Panicked};

use picklock_scenarios::workloads;

/// An error that keeps a plan from being checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The plan asks for a workload that does not exist.
    #[error("there is no workload `{0}`; a repro file of a later picklock may need that picklock")]
    Workload(String),
    /// The design's code panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// The program of a plan's clients.
pub(super) fn workload(plan: &Plan) -> Result<run::Workload, CheckError> {
    let kind = workloads::named(&plan.workload).ok_or_else(|| CheckError::Workload(plan.workload.clone()))?;
    Ok((kind.program)())
}
