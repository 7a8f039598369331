//! The mark of a cell: what its runs amount to, as a sign, a class of style sheets and words.
//!
//! One sign has one meaning, on the screen, in files, on pages and in pictures. What harmed the data stands before all else; then a
//! lock that nobody could acquire in time, which is an outage; then any other violation.

use picklock_campaign::summary::{Cell, Judged, Violation};
use picklock_judge::invariants::{Promise, about, is_about};

/// The mark of a cell, the most informative first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// A stale change was applied, or one was lost.
    Harmed,
    /// Nobody could acquire the lock in time, and the data were not harmed.
    Blocked,
    /// Another invariant was violated, and the data were not harmed.
    Violated,
    /// Enough runs were decided and none was violated.
    Holds,
    /// No run was conclusive, too few put anything at stake or were decided, or none was made.
    Inconclusive,
    /// The scenario does not apply to the design.
    NotApplicable,
}

/// The sign beside that of a cell that is not as expected.
pub(crate) const UNMET: &str = "!";

impl Mark {
    /// All of them, in their order.
    pub(crate) const ALL: [Mark; 6] =
        [Mark::Harmed, Mark::Blocked, Mark::Violated, Mark::Holds, Mark::Inconclusive, Mark::NotApplicable];

    pub(crate) fn of(cell: &Cell) -> Mark {
        if cell.skipped.is_some() {
            Mark::NotApplicable
        } else if harms_data(cell) {
            Mark::Harmed
        } else if blocks(cell) {
            Mark::Blocked
        } else if !cell.violations.is_empty() {
            Mark::Violated
        } else if conclusive(cell) == 0 || risks_too_little(cell) || doubt(cell).is_some() {
            Mark::Inconclusive
        } else {
            Mark::Holds
        }
    }

    /// True if an invariant was violated.
    pub(crate) fn is_violation(self) -> bool {
        matches!(self, Mark::Harmed | Mark::Blocked | Mark::Violated)
    }

    /// The sign that distinguishes it without colour.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Mark::Harmed => "✗",
            Mark::Blocked => "⊘",
            Mark::Violated => "~",
            Mark::Holds => "·",
            Mark::Inconclusive => "?",
            Mark::NotApplicable => "-",
        }
    }

    /// The meaning of the sign.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Mark::Harmed => "data harmed",
            Mark::Blocked => "nobody could acquire in time",
            Mark::Violated => "another invariant violated",
            Mark::Holds => "none found",
            Mark::Inconclusive => "inconclusive",
            Mark::NotApplicable => "does not apply",
        }
    }

    /// Its class in style sheets.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Mark::Harmed => "h",
            Mark::Blocked => "b",
            Mark::Violated => "x",
            Mark::Holds => "ok",
            Mark::Inconclusive => "u",
            Mark::NotApplicable => "na",
        }
    }
}

/// In how many runs the worst was found: the more frequent way in which the data was harmed, or else the block, or else the most
/// frequent violation. `None` where nothing was found.
pub(super) fn worst(cell: &Cell) -> Option<u64> {
    worst_violation(cell).map(|violation| violation.runs)
}

/// The violation that was found in so many runs.
pub(crate) fn worst_violation(cell: &Cell) -> Option<&Violation> {
    let mark = Mark::of(cell);
    let is_meant = |name: &str| match mark {
        Mark::Harmed => is_of_data(name),
        Mark::Blocked => is_about(name, Promise::Availability),
        _ => true,
    };
    let meant = cell.violations.iter().filter(|(name, _)| is_meant(name));
    meant.map(|(_, violation)| violation).max_by_key(|violation| violation.runs)
}

/// The conclusive runs.
pub(crate) fn conclusive(cell: &Cell) -> u64 {
    cell.runs.saturating_sub(cell.unknown)
}

/// A cell without a violation holds only if so many in a hundred of its runs put something at stake.
const AT_STAKE_PERCENT: u64 = 5;

/// True if too few runs put anything at stake to say that the cell holds.
pub(super) fn risks_too_little(cell: &Cell) -> bool {
    cell.hit_lock * 100 < cell.runs * AT_STAKE_PERCENT
}

/// A cell without a violation holds only if so many of its runs decided each of the properties that a lock is for.
pub(super) const DECIDED_RUNS: u64 = 10;

/// Why a cell without a violation does not hold: one of the properties that a lock is for was not decided often enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt<'c> {
    /// Fewer than [`DECIDED_RUNS`] runs decided it.
    Few(&'c str, &'c Judged),
    /// More runs left it open than decided it.
    Undecided(&'c str, &'c Judged),
}

/// The doubt about a cell, if there is one.
pub(super) fn doubt(cell: &Cell) -> Option<Doubt<'_>> {
    let doubts = meant(cell).into_iter().filter_map(|(name, judged)| {
        if judged.undecided > judged.decided {
            Some(Doubt::Undecided(name, judged))
        } else if judged.decided < DECIDED_RUNS {
            Some(Doubt::Few(name, judged))
        } else {
            None
        }
    });
    doubts.min_by_key(|doubt| matches!(doubt, Doubt::Few(..)))
}

/// The runs that decided the least decided of these properties; the conclusive ones where none was counted.
pub(crate) fn decided(cell: &Cell) -> u64 {
    meant(cell).iter().map(|(_, judged)| judged.decided).min().unwrap_or_else(|| conclusive(cell))
}

/// The properties that a lock is for, as far as they apply: one holder at a time, data that is not harmed (by that of its two invariants
/// which more runs decided), and progress.
pub(super) fn meant(cell: &Cell) -> Vec<(&str, &Judged)> {
    let counted = |promise| about(promise).filter_map(|name| cell.invariants.get_key_value(name));
    let of_data = counted(Promise::Data).max_by_key(|(_, judged)| judged.decided);
    let all = counted(Promise::Holders).chain(counted(Promise::Availability)).chain(of_data);
    all.map(|(name, judged)| (name.as_str(), judged)).collect()
}

/// True if an invariant judges the data: that no stale change was applied, and that none was lost. The others judge how the lock behaved,
/// which harms nobody as long as the resource refuses what comes late.
pub(crate) fn is_of_data(invariant: &str) -> bool {
    is_about(invariant, Promise::Data)
}

/// True if in some run of the cell nobody could acquire the lock in time.
fn blocks(cell: &Cell) -> bool {
    cell.violations.keys().any(|invariant| is_about(invariant, Promise::Availability))
}

/// True if some run of the cell harmed the data.
pub(crate) fn harms_data(cell: &Cell) -> bool {
    cell.violations.keys().any(|invariant| is_of_data(invariant))
}

/// True if a run of the cell violated this invariant.
pub(crate) fn was_found(cell: &Cell, invariant: &str) -> bool {
    cell.violations.contains_key(invariant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violating(names: &[&str]) -> Cell {
        let violation = |(nth, name): (usize, &&str)| {
            ((*name).to_owned(), Violation { runs: 1 + nth as u64, ..Violation::default() })
        };
        let violations = names.iter().enumerate().map(violation).collect();
        Cell { runs: 10, hit_lock: 10, violations, ..Cell::default() }
    }

    #[test]
    fn a_lock_that_nobody_can_acquire_any_more_has_a_sign_of_its_own() {
        for (names, mark, runs) in [
            (&["no-lost-update", "progress", "mutual-exclusion"][..], Mark::Harmed, 1),
            (&["mutual-exclusion", "progress", "ownership"], Mark::Blocked, 2),
            (&["mutual-exclusion", "ownership"], Mark::Violated, 2),
        ] {
            let cell = violating(names);
            assert_eq!((Mark::of(&cell), worst(&cell)), (mark, Some(runs)), "{names:?}");
        }
        assert_eq!(worst(&violating(&[])), None);
    }

    #[test]
    fn each_sign_class_and_meaning_is_there_once() {
        for text_of in [Mark::sign, Mark::class, Mark::words] {
            let mut all = Mark::ALL.map(text_of).to_vec();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), Mark::ALL.len(), "{all:?}");
        }
    }

    #[test]
    fn a_cell_without_a_conclusive_run_is_unknown_and_not_clean() {
        assert_eq!(Mark::of(&Cell { runs: 10, unknown: 10, ..Cell::default() }), Mark::Inconclusive);
        assert_eq!(Mark::of(&Cell { runs: 100, hit_lock: 4, ..Cell::default() }), Mark::Inconclusive);
        assert_eq!(Mark::of(&Cell { runs: 100, hit_lock: 5, ..Cell::default() }), Mark::Holds);
    }

    #[test]
    fn a_cell_holds_only_if_each_property_that_a_lock_is_for_was_decided() {
        let cell = |name: &str, decided, undecided| {
            let enough = Judged { decided: 90, ..Judged::default() };
            let mut invariants: std::collections::BTreeMap<String, Judged> =
                ["mutual-exclusion", "effective-exclusion", "no-lost-update", "progress"]
                    .map(|name| (name.to_owned(), enough.clone()))
                    .into();
            invariants.insert(name.to_owned(), Judged { decided, undecided, ..Judged::default() });
            Cell { runs: 100, hit_lock: 100, invariants, ..Cell::default() }
        };
        for name in ["mutual-exclusion", "progress"] {
            assert_eq!(Mark::of(&cell(name, 10, 10)), Mark::Holds);
            assert_eq!(decided(&cell(name, 10, 10)), 10);
            assert_eq!(Mark::of(&cell(name, 9, 0)), Mark::Inconclusive);
            assert!(matches!(doubt(&cell(name, 9, 0)), Some(Doubt::Few(..))));
            assert_eq!(Mark::of(&cell(name, 20, 21)), Mark::Inconclusive);
            assert!(matches!(doubt(&cell(name, 9, 21)), Some(Doubt::Undecided(..))));
        }
        // Of the two that judge the data one is enough, and what else was not asked is no doubt.
        assert_eq!(Mark::of(&cell("effective-exclusion", 0, 0)), Mark::Holds);
        assert_eq!(Mark::of(&cell("token-order", 0, 0)), Mark::Holds);
    }
}
