//! The runs of a gate: they are made and judged, and a test passes or fails by them.

use super::error::GateError;
use super::settings::Gate;
use super::verdict::Verdict;
use super::{judge, panics};

impl Gate {
    /// Makes the runs: the saved ones, those of the scenarios, and those of an exploration.
    ///
    /// # Errors
    /// When there is nothing to judge: see [`GateError`]. A violation is a result, not an error.
    pub fn try_run(&self) -> Result<Verdict, GateError> {
        judge::judge(self, judge::Extent::Everything)
    }

    /// As [`try_run`](Gate::try_run), for tests.
    ///
    /// # Panics
    /// With the error, when there is nothing to judge.
    #[track_caller]
    pub fn run(&self) -> Verdict {
        // A closure would hide the line of the test.
        match self.try_run() {
            Ok(verdict) => verdict,
            Err(error) => panics::fail(&error),
        }
    }

    /// Makes the runs and fails if anything is violated that is not allowed, or no run of a scenario is conclusive; see
    /// [`Verdict::assert_holds`]. As long as a saved run still violates something, no other is made.
    ///
    /// # Panics
    /// With what happened, when it fails.
    #[track_caller]
    pub fn assert_holds(&self) -> Verdict {
        match judge::judge(self, judge::Extent::UnlessKeptFail) {
            Ok(verdict) => verdict.assert_holds(),
            Err(error) => panics::fail(&error),
        }
    }

    /// Makes the runs and fails unless this invariant is violated in one of them; see [`Verdict::assert_violates`].
    ///
    /// # Panics
    /// With what happened, when it fails.
    #[track_caller]
    pub fn assert_violates(&self, invariant: &str) -> Verdict {
        self.run().assert_violates(invariant)
    }
}
