//! The strategies by which a violation is searched for.

use clap::ValueEnum;

/// How the runs of a version are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Each seed draws a run of the scenario, with its faults
    #[default]
    Seeds,
    /// The fault of the bug at each injection site of a run, for one workload after the other
    Explore,
}

impl Strategy {
    /// Its name, on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Seeds => "seeds",
            Strategy::Explore => "explore",
        }
    }
}
