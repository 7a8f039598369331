//! An experiment and its results: a claim, what was measured, and a verdict.

use super::lab::{Lab, LabError};
use super::plot::Plot;

/// A statement and how it is tested.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// Who claims it.
    pub source: &'static str,
    /// Makes the runs and judges the claim by them.
    pub measure: fn(&Lab) -> Result<Measured, LabError>,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What was measured is what was claimed.
    Confirmed,
    /// What was measured contradicts it.
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

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What became of the claim.
    pub verdict: Verdict,
    /// Why; for a conditional verdict, under which condition.
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
    /// What it shows, with units.
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
    /// What it found.
    pub measured: Measured,
}
