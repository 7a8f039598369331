//! How the process ends, for scripts to rely on.

use std::process::ExitCode;

use picklock_campaign::campaign::{CampaignError, PartError};
use picklock_campaign::check::CheckError;
use picklock_campaign::counterexamples::CounterexampleError;

/// The exit codes. Of several that apply, the first in this order is given: 101, 2, 130, 1, 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: everything as expected.
    Expected,
    /// 1: a violation, or an expected one was not found.
    Violation,
    /// 2: wrong usage, bad input, or an output that cannot be written.
    Usage,
    /// 3: no result: all runs are inconclusive, or no scenario applies to a design.
    Inconclusive,
    /// 101: the code under test or picklock itself failed.
    Internal,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Expected => 0,
            Exit::Violation => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
            Exit::Internal => 101,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// An error of a subcommand.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The arguments or a file they name are wrong.
    #[error("{0}")]
    Input(String),
    /// A run or a report failed.
    #[error("{0}")]
    Internal(String),
}

impl Failure {
    pub(crate) fn input(error: impl ToString) -> Failure {
        Failure::Input(error.to_string())
    }

    pub(crate) fn internal(error: impl ToString) -> Failure {
        Failure::Internal(error.to_string())
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Input(_) => Exit::Usage,
            Failure::Internal(_) => Exit::Internal,
        }
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        match error {
            // The lock under test does not do its part.
            CheckError::Panicked(ref panicked) if panicked.unfit => Failure::input(error),
            _ => Failure::internal(error),
        }
    }
}

impl From<CampaignError> for Failure {
    fn from(error: CampaignError) -> Failure {
        match &error {
            // The lock under test does not do its part.
            CampaignError::Check { source: CheckError::Panicked(panicked), .. }
            | CampaignError::Counterexample(CounterexampleError::Check {
                source: CheckError::Panicked(panicked),
                ..
            }) if panicked.unfit => Failure::input(error),
            // A directory that cannot be written to is the caller's to mend.
            CampaignError::Counterexample(CounterexampleError::Write { .. }) => Failure::input(error),
            CampaignError::Check { .. }
            | CampaignError::NotTheSame { .. }
            | CampaignError::Counterexample(_) => Failure::internal(error),
        }
    }
}

impl From<PartError> for Failure {
    fn from(error: PartError) -> Failure {
        match error {
            PartError::Campaign(error) => error.into(),
            // A journal that cannot be kept or does not fit is the caller's to mend.
            PartError::Journal(_) | PartError::Merge(_) => Failure::input(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_sim::run::Panicked;

    use super::*;

    fn source(unfit: bool) -> CheckError {
        CheckError::Panicked(Panicked { design: "x".into(), seed: 1, message: "it ended".into(), unfit })
    }

    fn code(error: CampaignError) -> Exit {
        Failure::from(error).exit()
    }

    #[test]
    fn what_does_not_do_its_part_is_bad_input_whenever_it_shows() {
        let names = || ("x".to_owned(), "calm".to_owned());
        for (unfit, exit) in [(true, Exit::Usage), (false, Exit::Internal)] {
            let (design, scenario) = names();
            let (source, replay) = (source(unfit), "picklock replay x calm 1".into());
            let design = design.into();
            assert_eq!(code(CampaignError::Check { design, scenario, source, replay }), exit);
            let (design, scenario) = names();
            let error = CounterexampleError::Check { design, scenario, source: self::source(unfit) };
            assert_eq!(code(CampaignError::Counterexample(error)), exit);
        }
    }
}
