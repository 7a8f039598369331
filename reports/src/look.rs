//! How a cell looks where there is colour: what was found in it, in a class, a sign and a word, and how often.

use picklock_scenarios::summary::Cell;

use crate::verdict::{Mark, harms_data, is_of_data};

/// What a cell amounts to for the data that the lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Harmed,
    Violated,
    Holds,
    Unknown,
    NotApplicable,
}

impl Look {
    /// All of them, the worst first.
    pub(crate) const ALL: [Look; 5] =
        [Look::Harmed, Look::Violated, Look::Holds, Look::Unknown, Look::NotApplicable];

    pub(crate) fn of(cell: &Cell) -> Look {
        match Mark::of(cell) {
            Mark::Violated if harms_data(cell) => Look::Harmed,
            Mark::Violated => Look::Violated,
            Mark::Holds => Look::Holds,
            Mark::Unknown => Look::Unknown,
            Mark::NotApplicable => Look::NotApplicable,
        }
    }

    /// Its class in style sheets.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Look::Harmed => "h",
            Look::Violated => "x",
            Look::Holds => "ok",
            Look::Unknown => "u",
            Look::NotApplicable => "na",
        }
    }

    /// The sign that tells it apart without colour.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Look::Harmed => "✗",
            Look::Violated => "~",
            Look::Holds => "·",
            Look::Unknown => "?",
            Look::NotApplicable => "–",
        }
    }

    /// What the sign means, to who cannot see it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Look::Harmed => "data harmed",
            Look::Violated => "violated",
            Look::Holds => "nothing found",
            Look::Unknown => "not put to the test",
            Look::NotApplicable => "not applicable",
        }
    }
}

/// In how many runs the worst was found: the more frequent way in which the data was harmed, or the most frequent violation where it
/// was not. `None` where nothing was found.
pub(crate) fn worst(cell: &Cell) -> Option<u64> {
    let harms = harms_data(cell);
    let of = cell.violations.iter().filter(|(name, _)| !harms || is_of_data(name));
    of.map(|(_, violation)| violation.runs).max()
}
