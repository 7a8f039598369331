//! The matrix of designs and scenarios: one model of it, which the screen, the files, the page and the picture each draw in their way.
//!
//! A cell has its sign ([`Mark`]) and what stands behind it: the invariants that were violated, those that more runs are known to
//! violate, and how often the worst was found. The legend names the signs that stand in it.

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::invariants::{self, Invariant};

use self::mark::Mark;
use self::verdict::ExpectationStatus;
use crate::page::layout::distinct;

pub(crate) mod finding;
pub(crate) mod folded;
pub(crate) mod groups;
pub(crate) mod legend;
pub(crate) mod mark;
pub(crate) mod measures;
pub(crate) mod statistics;
pub(crate) mod verdict;

/// Designs down, scenarios across, in the order of the results.
pub(crate) struct Matrix<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) scenarios: Vec<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
}

/// A design under each of the scenarios; `None` where it was not asked for.
pub(crate) struct Row<'a> {
    pub(crate) design: &'a str,
    pub(crate) squares: Vec<Option<Square<'a>>>,
}

/// A cell of the matrix.
#[derive(Clone, Copy)]
pub(crate) struct Square<'a> {
    /// Which cell of the results it is.
    pub(crate) nth: usize,
    pub(crate) cell: &'a Cell,
    pub(crate) mark: Mark,
    /// True if it is not as expected.
    pub(crate) unmet: bool,
    /// In how many runs the worst was found; `None` where nothing was.
    pub(crate) worst: Option<u64>,
}

impl<'a> Matrix<'a> {
    pub(crate) fn of(summary: &'a Summary) -> Matrix<'a> {
        let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str()));
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (nth, cell) in summary.cells.iter().enumerate() {
            let Some(column) = scenarios.iter().position(|scenario| *scenario == cell.scenario) else {
                continue;
            };
            // Cells come design by design: the row is the last one, or a new one.
            let at = rows.iter().rposition(|row| row.design == cell.design).unwrap_or_else(|| {
                rows.push(Row { design: &cell.design, squares: vec![None; scenarios.len()] });
                rows.len() - 1
            });
            rows[at].squares[column] = Some(Square::of(nth, cell));
        }
        Matrix { summary, scenarios, rows }
    }

    /// The row of a design.
    pub(crate) fn row(&self, design: &str) -> Option<&Row<'a>> {
        self.rows.iter().find(|row| row.design == design)
    }

    /// The invariants that stand behind some cell.
    pub(crate) fn invariants(&self) -> Vec<&'static Invariant> {
        let stands = |invariant: &&Invariant| {
            let behind =
                |square: &Square<'_>| square.was_found(invariant) || square.may_yet_be_found(invariant);
            self.squares().any(behind)
        };
        invariants::ALL.iter().filter(stands).collect()
    }

    /// True if a sign stands in it.
    fn has(&self, mark: Mark) -> bool {
        self.squares().any(|square| square.mark == mark)
    }

    /// True if any of it is not as expected.
    fn has_unmet(&self) -> bool {
        self.squares().any(|square| square.unmet)
    }

    fn squares(&self) -> impl Iterator<Item = &Square<'a>> {
        self.rows.iter().flat_map(|row| row.squares.iter().flatten())
    }
}

impl<'a> Square<'a> {
    pub(crate) fn of(nth: usize, cell: &'a Cell) -> Square<'a> {
        let unmet = ExpectationStatus::of(cell) == ExpectationStatus::NotMet;
        Square { nth, cell, mark: Mark::of(cell), unmet, worst: mark::worst(cell) }
    }

    /// Its sign, with `!` if it is not as expected.
    pub(crate) fn symbols(&self) -> String {
        format!("{}{}", self.mark.sign(), if self.unmet { mark::UNMET } else { "" })
    }

    /// The share of the conclusive runs in which the worst was found.
    pub(crate) fn share(&self) -> Option<f64> {
        self.worst.map(|runs| runs as f64 / mark::conclusive(self.cell).max(1) as f64)
    }

    /// True if a run violated this invariant.
    pub(crate) fn was_found(&self, invariant: &Invariant) -> bool {
        mark::was_found(self.cell, invariant.name)
    }

    /// True if none did, and yet it is known from more runs that one can.
    pub(crate) fn may_yet_be_found(&self, invariant: &Invariant) -> bool {
        !self.was_found(invariant) && self.cell.allows(invariant.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_not_as_expected_is_marked_whatever_was_found() {
        let cell = |scenario: &str, met| Cell {
            design: "single".into(),
            scenario: scenario.into(),
            runs: 10,
            hit_lock: 10,
            met,
            ..Cell::default()
        };
        let cells = vec![cell("calm", Some(true)), cell("pause", Some(false))];
        let summary = Summary { cells, ..Summary::default() };
        let matrix = Matrix::of(&summary);
        let row = matrix.row("single").expect("it was run");
        let symbols: Vec<String> = row.squares.iter().flatten().map(Square::symbols).collect();
        assert_eq!(symbols, ["·", "·!"]);
        assert!(matrix.has_unmet() && matrix.has(Mark::Holds) && !matrix.has(Mark::Harmed));
    }
}
