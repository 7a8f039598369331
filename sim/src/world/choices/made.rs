//! A choice that a run has made, as it is noted.

use picklock_model::plan::Choice;

/// A choice that a run has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Where it was made and what was taken.
    pub choice: Choice,
    /// How many options there were.
    pub options: u64,
    /// The option that the seed proposed.
    pub proposed: u64,
}

impl Made {
    /// True if the choice comes from the seed: a plan need not store it.
    #[must_use]
    pub fn is_seeded(&self) -> bool {
        self.choice.chosen == self.proposed
    }
}
