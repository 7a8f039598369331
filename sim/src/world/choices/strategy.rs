//! The contract of a strategy: one open choice in, one option out.

use picklock_model::plan::ChoiceKind;

/// A choice at which a run has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Where it is made.
    pub kind: ChoiceKind,
    /// Its number among the choices of that kind, from 0.
    pub ordinal: u64,
    /// How many options there are, at least one. They are numbered from 0.
    pub options: u64,
    /// The option that the seed proposes.
    pub proposed: u64,
}

/// A strategy that decides what a run leaves open.
///
/// It is asked in the order in which the run arrives at its choices. The same answers give the same run.
pub trait Choices {
    /// The option that is taken. One beyond the last is taken for the last.
    fn choose(&mut self, open: Open) -> u64;
}

impl Choices for Box<dyn Choices> {
    fn choose(&mut self, open: Open) -> u64 {
        (**self).choose(open)
    }
}
