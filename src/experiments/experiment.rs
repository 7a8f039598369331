//! An experiment and its results: a claim, what was measured, and a verdict.

use super::lab::{Lab, LabError};
use super::plot::Plot;

/// A statement and how it is tested.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// The claim.
    pub claim: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Makes the runs and judges the claim by them.
    pub measure: fn(&Lab) -> Result<Measured, LabError>,
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measurement agrees with the claim.
    Confirmed,
    /// The measurement contradicts it.
    Refuted,
    /// It holds under a condition that it does not state.
    Conditional,
}

impl Verdict {
    /// The verdict in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Refuted => "refuted",
            Verdict::Conditional => "conditional",
        }
    }
}

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The reason; for a conditional verdict, the condition.
    pub because: String,
    /// The figures.
    pub figures: Vec<Figures>,
    /// A picture of them, where one says more.
    pub plot: Option<Plot>,
    /// Commands that show single runs of it.
    pub replays: Vec<String>,
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Its quantity, with units.
    pub title: String,
    /// The names of its columns.
    pub head: Vec<&'static str>,
    /// Its rows, as long as the head.
    pub rows: Vec<Vec<String>>,
}

/// An experiment with what it found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Its results.
    pub measured: Measured,
}
