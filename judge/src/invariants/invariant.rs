//! The type of an invariant: a name, the property that it demands, and a function that judges a run.

use crate::history::History;
use crate::outcome::Outcome;

/// One invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in reports.
    pub name: &'static str,
    /// Its number in the project's list of invariants, such as `I1`.
    pub number: &'static str,
    /// The property of every correct run, in one line.
    pub property: &'static str,
    /// Judges one run.
    pub check: fn(&History<'_>) -> Outcome,
}
