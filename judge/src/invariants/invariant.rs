//! The type of an invariant: a name, a claim, and a function that judges a run.

use crate::history::History;
use crate::outcome::Outcome;

/// One invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in reports.
    pub name: &'static str,
    /// Its number in the project's list of invariants, such as `I1`.
    pub number: &'static str,
    /// Its demand, in one line.
    pub claim: &'static str,
    /// Judges one run.
    pub check: fn(&History<'_>) -> Outcome,
}
