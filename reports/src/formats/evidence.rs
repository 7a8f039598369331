//! The evidence behind each cell of the matrix, and what each design costs, in one table of a page.

use picklock_campaign::summary::{Cell, Summary};

use super::grouped;
use crate::matrix::mark::{Mark, decided, worst_violation};
use crate::matrix::measures::{MEASURES, measures};
use crate::matrix::statistics::clean_bound;
use crate::matrix::{Matrix, Square};
use crate::page::markdown::code;
use crate::page::numbers::percent_up;

/// The section with it. A scenario without faults, which comes first in the suite, is the one whose costs are shown.
pub(super) fn section(summary: &Summary) -> String {
    let matrix = Matrix::of(summary);
    let Some(first) = matrix.scenarios.first().copied() else { return String::new() };
    let measured = MEASURES.into_iter().skip(1);
    let head: Vec<&str> =
        std::iter::once("design").chain(measured).chain(matrix.scenarios.iter().copied()).collect();
    let tables = grouped::tables(&matrix, ": evidence and cost", &head, |row| {
        let costs = row.squares.first().and_then(Option::as_ref).map(|square| measures(&square.cell.metrics));
        let costs = costs.unwrap_or_default().into_iter().skip(1);
        let cells = row.squares.iter().map(|square| square.as_ref().map(evidence).unwrap_or_default());
        costs.chain(cells).collect()
    });
    let replay = code("picklock replay DESIGN SCENARIO SEED");
    format!(
        "## Evidence and cost\n\nA violation has the first seed that shows the worst of it, which {replay} replays; where none was found stands the bound \
         of its rate at 95%. `p50` and `p99` are the wait for a grant and `messages` those to the store for each grant, under `{first}`.\n\n{tables}"
    )
}

fn evidence(square: &Square<'_>) -> String {
    let cell: &Cell = square.cell;
    match (worst_violation(cell), square.mark) {
        (Some(worst), _) => format!("{} {}", square.mark.sign(), worst.first_seed),
        (None, Mark::Holds) => match clean_bound(decided(cell)) {
            Some(bound) => format!("<{}", percent_up(bound)),
            None => square.mark.sign().to_owned(),
        },
        (None, mark) => mark.sign().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::Violation;

    use super::*;

    #[test]
    fn a_cell_has_the_seed_of_the_worst_or_the_bound() {
        let mut cell =
            Cell { design: "a".into(), scenario: "s".into(), runs: 100, hit_lock: 100, ..Cell::default() };
        let shown = |cell: &Cell| evidence(&Square::of(0, cell));
        assert_eq!(shown(&cell), "<3.0%");
        let violation = |runs, first_seed| Violation { runs, first_seed, ..Violation::default() };
        cell.violations.insert("mutual-exclusion".into(), violation(9, 1));
        assert_eq!(shown(&cell), "~ 1");
        cell.violations.insert("effective-exclusion".into(), violation(2, 40));
        assert_eq!(shown(&cell), "✗ 40");
        let none = Cell { unknown: 100, violations: Default::default(), ..cell };
        assert_eq!(shown(&none), "?");
        let page = section(&Summary { cells: vec![none], ..Summary::default() });
        assert!(page.contains("| design | p50 | p99 | messages | s |"), "{page}");
    }
}
