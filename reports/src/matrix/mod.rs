//! The matrix of designs and scenarios: what the screen, the files, the page and the picture show, each in its way.

use picklock_campaign::summary::{Cell, Summary};

use self::mark::Mark;
use self::verdict::Standing;
use crate::page::layout::distinct;

pub(crate) mod finding;
pub(crate) mod folded;
pub(crate) mod mark;
pub(crate) mod statistics;
pub(crate) mod verdict;

/// Designs down, scenarios across, in the order of the results.
pub(crate) struct Matrix<'a> {
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
        Matrix { scenarios, rows }
    }

    /// The row of a design.
    pub(crate) fn row(&self, design: &str) -> Option<&Row<'a>> {
        self.rows.iter().find(|row| row.design == design)
    }

    /// Whether a sign stands in it.
    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.squares().any(|square| square.mark == mark)
    }

    /// Whether any of it is not as expected.
    pub(crate) fn has_unmet(&self) -> bool {
        self.squares().any(|square| square.unmet)
    }

    fn squares(&self) -> impl Iterator<Item = &Square<'a>> {
        self.rows.iter().flat_map(|row| row.squares.iter().flatten())
    }
}

impl<'a> Square<'a> {
    fn of(nth: usize, cell: &'a Cell) -> Square<'a> {
        Square { nth, cell, mark: Mark::of(cell), unmet: Standing::of(cell) == Standing::NotMet }
    }

    /// Its sign, with `!` if it is not as expected.
    pub(crate) fn symbols(&self) -> String {
        symbols(self.mark, self.unmet)
    }
}

/// A sign, with `!` if it is not as expected.
pub(crate) fn symbols(mark: Mark, unmet: bool) -> String {
    format!("{}{}", mark.sign(), if unmet { "!" } else { "" })
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
            decided: 10,
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
