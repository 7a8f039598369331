//! Over what designs are compared: the scenarios that all of them ran. A design that is spared a scenario may be spared the
//! worst, and its rates over all that it ran would not be of the same faults as another's.

use std::collections::BTreeSet;

use picklock_campaign::summary::{Cell, Summary};

use crate::page::layout::distinct;
use crate::page::numbers::plural;

/// The scenarios that all designs ran.
pub(crate) struct Shared<'a> {
    scenarios: BTreeSet<&'a str>,
    /// The number of scenarios that any of them ran.
    any_ran: usize,
}

impl<'a> Shared<'a> {
    /// Designs that ran nothing do not count. If there is no scenario that all ran, every one is taken.
    pub(crate) fn of(summary: &'a Summary) -> Shared<'a> {
        let ran = || summary.cells.iter().filter(|cell| was_run(cell));
        let designs = distinct(ran().map(|cell| cell.design.as_str())).len();
        let all: BTreeSet<&str> = ran().map(|cell| cell.scenario.as_str()).collect();
        let by = |scenario: &str| {
            distinct(ran().filter(|cell| cell.scenario == scenario).map(|cell| cell.design.as_str()))
        };
        let scenarios: BTreeSet<&str> =
            all.iter().copied().filter(|scenario| by(scenario).len() == designs).collect();
        let any_ran = all.len();
        Shared { scenarios: if scenarios.is_empty() { all } else { scenarios }, any_ran }
    }

    /// True if a cell was run, under one of them.
    pub(crate) fn holds(&self, cell: &Cell) -> bool {
        was_run(cell) && self.scenarios.contains(cell.scenario.as_str())
    }

    /// The conditions left out, as the end of a sentence.
    pub(crate) fn limits(&self) -> String {
        let (shared, all) = (self.scenarios.len(), self.any_ran);
        if shared == all {
            return String::new();
        }
        format!(", over the {shared} of {all} {} that all designs ran", plural(all as u64, "scenario"))
    }
}

/// True if anything was run of a cell.
pub(crate) fn was_run(cell: &Cell) -> bool {
    cell.skipped.is_none() && cell.runs > 0
}
