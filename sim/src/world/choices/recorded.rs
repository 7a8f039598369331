//! The strategy of a plan with choices: those that it has are taken, and another strategy decides the rest.

use std::collections::BTreeMap;

use picklock_model::plan::{Choice, ChoiceKind};

use super::strategy::{Choices, Open};

/// Takes recorded choices where there is one, and asks `rest` elsewhere. A list of the first choices of a run is a prefix of it.
#[derive(Clone, Debug)]
pub struct RecordedChoices<C> {
    recorded: BTreeMap<(ChoiceKind, u64), u64>,
    rest: C,
}

impl<C> RecordedChoices<C> {
    /// Takes these choices, and those of `rest` elsewhere.
    #[must_use]
    pub fn new(choices: &[Choice], rest: C) -> RecordedChoices<C> {
        let named = |choice: &Choice| ((choice.kind, choice.ordinal), choice.chosen);
        RecordedChoices { recorded: choices.iter().map(named).collect(), rest }
    }
}

impl<C: Choices> Choices for RecordedChoices<C> {
    fn choose(&mut self, open: Open) -> u64 {
        match self.recorded.get(&(open.kind, open.ordinal)) {
            Some(chosen) => *chosen,
            None => self.rest.choose(open),
        }
    }
}
