//! The kinds of things that are listed.

use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Lock designs with their parameters
    #[value(alias = "design")]
    Designs,
    /// Locks of real libraries that had a bug, with the scenario that finds it
    #[value(alias = "bug")]
    Bugs,
    /// Scenarios of the built-in suite with what can be set
    #[value(alias = "scenario")]
    Scenarios,
    /// Faults with their parameters
    #[value(alias = "fault")]
    Faults,
    /// The invariants that runs are judged by
    #[value(alias = "invariant")]
    Invariants,
    /// Report formats
    #[value(alias = "format")]
    Formats,
}
