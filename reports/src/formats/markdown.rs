//! Results as Markdown, for a pull request or a page of documentation: the matrix, the evidence and the cost of each design, and the
//! command that makes every number again. A small campaign has a table of its cells and one of its violations too; a large one has the
//! cells that need a look, and the command that prints all of them.

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::invariants::{self, Invariant};

use super::{evidence, grouped};
use crate::format::{Format, ReportError};
use crate::matrix::mark::Mark;
use crate::matrix::verdict::{self, ExpectationStatus, Totals};
use crate::matrix::{Matrix, Square, legend};
use crate::page::layout::titled;
use crate::page::markdown::{Table, block, code, escape};
use crate::page::numbers::plural;
use crate::page::paint::Style;

/// Results for a page.
pub const FORMAT: Format = Format {
    name: "markdown",
    file: "results.md",
    doc: "tables in Markdown, with the commands that make each number again; for a page",
    render,
};

/// The most cells of which a page has all figures. More of them are data and not a page.
const MOST_CELLS: u64 = 40;

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    let count = Totals::of(summary).cells;
    let is_small = count <= MOST_CELLS;
    let mut page = "# Results\n\n".to_owned();
    if summary.partial {
        page.push_str("**(partial: interrupted)** The numbers are those of the runs made until then.\n\n");
    }
    page.push_str(&format!("This command prints the same numbers again:\n\n{}\n", block(&summary.command)));
    if !is_small {
        page.push_str(&format!(
            "This command prints the figures of each of the {count} cells, with its violations and the commands that replay them:\n\n{}\n",
            block(&format!("{} --format json", summary.command)),
        ));
    }
    page.push_str(&matrix(summary));
    page.push_str(&evidence::section(summary));
    if is_small {
        page.push_str(&cells("Cells", &summary.cells.iter().collect::<Vec<_>>()));
        page.push_str(&violations(summary));
    } else {
        let doubtful: Vec<&Cell> = summary.cells.iter().filter(|cell| needs_a_look(cell)).collect();
        page.push_str(&cells("Unexpected and inconclusive cells", &doubtful));
    }
    page.push_str(&totals(summary));
    Ok(page)
}

/// True if the cell is not as expected, or has too few conclusive runs to say so.
fn needs_a_look(cell: &Cell) -> bool {
    matches!(ExpectationStatus::of(cell), ExpectationStatus::NotMet | ExpectationStatus::TooFew)
        || Mark::of(cell) == Mark::Inconclusive
}

fn matrix(summary: &Summary) -> String {
    let matrix = Matrix::of(summary);
    let head: Vec<&str> = std::iter::once("design").chain(matrix.scenarios.iter().copied()).collect();
    let tables = grouped::tables(&matrix, "", &head, |row| {
        row.squares.iter().map(|square| square.as_ref().map(mark).unwrap_or_default()).collect()
    });
    let signs = legend::items(&legend::keys(&matrix), code).join(", ");
    let numbered = |invariant: &&Invariant| format!("; {} {}", invariant.number, invariant.name);
    let names: String = matrix.invariants().iter().map(numbered).collect();
    let known = "in parentheses what more runs are known to show";
    let leases: String = legend::leases(summary).iter().map(|leases| format!("; {leases}")).collect();
    format!("## Matrix\n\n{tables}{signs}; {known}{names}{leases}\n\n")
}

/// A cell of the matrix: its symbol, the numbers of the invariants that were violated, and of those that were not and
/// might have been. A cell that holds in these runs is not one that is known to hold.
fn mark(square: &Square<'_>) -> String {
    let numbers = |accept: &dyn Fn(&Invariant) -> bool| -> Vec<&str> {
        let accepted = invariants::ALL.iter().filter(|invariant| accept(invariant));
        accepted.map(|invariant| invariant.number).collect()
    };
    let mut words = vec![square.symbols()];
    words.extend(numbers(&|invariant| square.was_found(invariant)).into_iter().map(str::to_owned));
    let known = numbers(&|invariant| square.may_yet_be_found(invariant));
    if !known.is_empty() {
        words.push(format!("({})", known.join(" ")));
    }
    words.join(" ")
}

fn cells(title: &str, cells: &[&Cell]) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let head =
        ["design", "scenario", "runs", "unknown", "as expected", "found", "too many holders", "faults"];
    let mut table = Table::new(head);
    for cell in cells {
        let (runs, unknown) = (cell.runs.to_string(), cell.unknown.to_string());
        let cells = [
            code(&titled(&cell.design)),
            escape(&cell.scenario),
            runs,
            unknown,
            as_expected(cell),
            escape(&found(cell)),
            escape(verdict::overlap(cell).trim_start_matches("too many holders ")),
            escape(&verdict::effects(cell)),
        ];
        table.row(cells);
    }
    format!("## {title}\n\n{}\n", table.text)
}

fn found(cell: &Cell) -> String {
    let mut words = vec![verdict::found(cell), verdict::exhausted(cell), verdict::retries(&cell.metrics)];
    words.retain(|words| !words.is_empty());
    words.join("; ")
}

fn as_expected(cell: &Cell) -> String {
    let word = match ExpectationStatus::of(cell) {
        ExpectationStatus::Met => "yes",
        ExpectationStatus::NotMet => "**no**",
        ExpectationStatus::TooFew => "too few runs for a verdict",
        ExpectationStatus::NoExpectation => Mark::NotApplicable.sign(),
    };
    match &cell.unmet_because {
        Some(why) => format!("{word}: {}", escape(why)),
        None => word.to_owned(),
    }
}

fn violations(summary: &Summary) -> String {
    let mut table = Table::new(["design", "scenario", "invariant", "runs", "on turmoil", "replay"]);
    let mut any = false;
    for cell in &summary.cells {
        for (invariant, violation) in &cell.violations {
            any = true;
            table.row([
                code(&titled(&cell.design)),
                escape(&cell.scenario),
                escape(invariant),
                format!("{} of {}", violation.runs, cell.runs),
                violation
                    .confirmed
                    .map(|it| format!("{} of {}", it.seen, it.of))
                    .unwrap_or("not tried".to_owned()),
                code(&violation.replay),
            ]);
        }
    }
    if any { format!("## Violations\n\n{}\n", table.text) } else { String::new() }
}

fn totals(summary: &Summary) -> String {
    let totals = Totals::of(summary);
    let partial = if summary.partial { " (partial: interrupted)" } else { "" };
    let mut lines = vec![format!(
        "- {} {} in {} {}: {} clean, {} violated, {} unknown; {} distinct {}{partial}",
        totals.runs,
        plural(totals.runs, "run"),
        totals.cells,
        plural(totals.cells, "cell"),
        totals.clean,
        totals.violated,
        totals.unknown,
        totals.distinct,
        plural(totals.distinct, "violation"),
    )];
    if totals.met + totals.not_met + totals.too_few > 0 {
        lines.push(format!(
            "- as expected: {} yes, {} no, {} with too few runs for a verdict",
            totals.met, totals.not_met, totals.too_few
        ));
    }
    lines.extend(totals.confirmed_share().map(|share| format!("- {share}")));
    lines.push(
        "- clean: no violation was found in these runs; the bound of its rate stands in the cell".to_owned(),
    );
    format!("## Summary\n\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{Expected, Violation};

    use super::*;

    #[test]
    fn a_large_page_has_the_cells_that_need_a_look_and_the_command_with_all_figures() {
        let cell = |nth: u64| Cell {
            design: "single".into(),
            scenario: format!("s{nth}"),
            runs: 100,
            hit_lock: 100,
            violations: [("no-lost-update".to_owned(), Violation::default())].into(),
            ..Cell::default()
        };
        let page = |cells: u64| {
            let mut cells: Vec<Cell> = (0..cells).map(cell).collect();
            cells[0].met = Some(false);
            cells[0].expected = Some(Expected::default());
            cells[1].unknown = 100;
            cells[1].violations.clear();
            let summary = Summary { command: "picklock run".into(), cells, ..Summary::default() };
            render(&summary, &Style::default()).expect("it is rendered")
        };
        let all = "picklock run --format json";
        let small = page(MOST_CELLS);
        assert!(
            small.contains("## Cells") && small.contains("## Violations") && !small.contains(all),
            "{small}"
        );
        let large = page(MOST_CELLS + 1);
        let doubtful = large.split("## Unexpected and inconclusive cells").nth(1).expect("some are");
        assert_eq!(doubtful.matches("| `single` | s").count(), 2, "{doubtful}");
        assert!(
            large.contains(all) && !large.contains("## Cells") && !large.contains("## Violations"),
            "{large}"
        );
    }

    #[test]
    fn what_was_not_found_and_is_known_from_more_runs_stands_in_parentheses() {
        let expected = Expected {
            violated: vec!["mutual-exclusion".into(), "ownership".into()],
            may: vec!["no-lost-update".into()],
            within: 2_000,
        };
        let mut cell = Cell { runs: 100, hit_lock: 100, expected: Some(expected), ..Cell::default() };
        let mark = |cell: &Cell| {
            let summary = Summary { cells: vec![cell.clone()], ..Summary::default() };
            mark(Matrix::of(&summary).rows[0].squares[0].as_ref().expect("it is the only one"))
        };
        assert_eq!(mark(&cell), "· (I1 I4 I7)");
        cell.violations.insert("mutual-exclusion".into(), Violation::default());
        assert_eq!(mark(&cell), "~ I1 (I4 I7)");
        cell.violations.insert("ownership".into(), Violation::default());
        cell.violations.insert("no-lost-update".into(), Violation::default());
        assert_eq!(mark(&cell), "✗ I1 I4 I7");
        cell.expected = None;
        assert_eq!(mark(&cell), "✗ I1 I4 I7");
    }
}
