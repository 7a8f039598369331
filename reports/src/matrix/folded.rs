//! The matrix of designs and scenarios in few lines: designs with equal rows stand together.
//!
//! Scenarios stand above their columns by name where there is room for that, and are numbered otherwise.

use std::borrow::Cow;

use super::legend;
use super::mark::{Mark, UNMET};
use super::verdict::{self, ExpectationStatus};
use super::{Matrix, Square};
use crate::page::layout::{enumerated, left, printable, spaces, tent, titled, width, wrap};
use crate::page::paint::{Ink, Style};

/// Columns of a cell: a symbol, a `!` or not, and a gap where there is room for one.
const STEPS: [usize; 2] = [3, 2];
/// Names need so many columns at least, or are broken too often to be read.
const NAMES: usize = 12;
/// More columns than this for names only make the eye travel further.
const MOST_NAMES: usize = 36;

/// The matrix in at most `most` lines (or as few as can be), with what its symbols mean. What is left out for want of lines is
/// said.
pub(crate) fn matrix(matrix: &Matrix<'_>, style: &Style, most: usize) -> Vec<String> {
    let scenarios: Vec<Cow<'_, str>> = matrix.scenarios.iter().map(|name| printable(name)).collect();
    let rows = rows(matrix);
    let longest = rows.iter().flat_map(|row| &row.designs).map(|name| width(name)).max().unwrap_or(0);
    let room = |step: usize| (style.columns() + 1).saturating_sub(scenarios.len() * step);
    // Better wide cells; but a name is not broken for them.
    let step = STEPS.into_iter().find(|step| room(*step) > longest + 1);
    let step = step.or_else(|| STEPS.into_iter().rfind(|step| room(*step) > NAMES));
    let Some(step) = step else {
        let words = format!("{} scenarios are too many for a matrix on this page", scenarios.len());
        return dim(wrap(&words, style.columns()), style);
    };
    let names = (room(step) - 1).min(MOST_NAMES);
    let legend = legend::items(&legend::keys(matrix), str::to_owned);
    let legend = dim(enumerated(&legend, style.columns()), style);
    // Names to the right of the columns may need some of the room of the labels.
    let narrow =
        names.min(style.columns().saturating_sub(1 + beyond(&scenarios, step))).max(longest.min(names));
    let named = tent(&scenarios, narrow + 1, step, style.columns());
    let named = named.filter(|head| head.len() + rows.len() + legend.len() <= most);
    let (head, names, below) = match named {
        Some(head) => (dim(head, style), narrow, Vec::new()),
        None => {
            let below = dim(enumerated(&numbered(&scenarios), style.columns()), style);
            (head(scenarios.len(), names, step, style), names, below)
        }
    };
    let used = head.len() + below.len() + legend.len();
    let body = body(&rows, names, step, most.saturating_sub(used), style);
    [head, body, below, legend].concat()
}

/// How far the columns and the names above them reach.
fn beyond(scenarios: &[Cow<'_, str>], step: usize) -> usize {
    let reach = |(nth, name): (usize, &Cow<'_, str>)| nth * step + 2 + width(name);
    scenarios.iter().enumerate().skip(scenarios.len() / 2).map(reach).max().unwrap_or(0)
}

/// Designs that look the same under every scenario.
struct Row<'a> {
    designs: Vec<Cow<'a, str>>,
    symbols: Vec<(Ink, String)>,
}

impl Row<'_> {
    fn is_unexpected(&self) -> bool {
        self.symbols.iter().any(|(_, symbols)| symbols.ends_with(UNMET))
    }

    fn names(&self) -> String {
        self.designs.join(", ")
    }

    /// The names, or as many as fit on one line and how many more there are.
    fn short(&self, columns: usize) -> String {
        let with = |count: usize| match self.designs.len() - count {
            0 => self.names(),
            more => format!("{} +{more}", self.designs[..count].join(", ")),
        };
        (1..=self.designs.len())
            .rev()
            .map(with)
            .find(|names| width(names) <= columns)
            .unwrap_or_else(|| with(1))
    }
}

fn rows<'a>(matrix: &Matrix<'a>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for row in &matrix.rows {
        let symbol = |found: &Option<Square<'_>>| found.as_ref().map_or((Ink::Plain, String::new()), symbol);
        let symbols: Vec<(Ink, String)> = row.squares.iter().map(symbol).collect();
        let name = titled(row.design);
        match rows.iter_mut().find(|row| row.symbols == symbols) {
            Some(row) => row.designs.push(name),
            None => rows.push(Row { designs: vec![name], symbols }),
        }
    }
    rows
}

fn symbol(square: &Square<'_>) -> (Ink, String) {
    // Only unexpected results stand out, and harmed data.
    let ink = match (ExpectationStatus::of(square.cell), verdict::ink(square.cell)) {
        (_, Ink::Bad) => Ink::Bad,
        (_, ink) if square.mark != Mark::Violated => ink,
        _ => Ink::Plain,
    };
    (ink, square.symbols())
}

fn numbered(scenarios: &[Cow<'_, str>]) -> Vec<String> {
    scenarios.iter().zip(1..).map(|(name, number)| format!("{number} {name}")).collect()
}

/// The numbers of the scenarios. Where there is no gap between cells, tens stand above units.
fn head(scenarios: usize, names: usize, step: usize, style: &Style) -> Vec<String> {
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells: String = (1..=scenarios).map(|number| left(&cell(number), step)).collect();
        let line = format!("{} {}", spaces(names), cells.trim_end());
        style.paint(Ink::Dim, &line)
    };
    if step == STEPS[0] && scenarios < 100 {
        return vec![line(&|number| number.to_string())];
    }
    let tens = |number: usize| if number < 10 { String::new() } else { (number / 10 % 10).to_string() };
    let units = line(&|number| (number % 10).to_string());
    if scenarios < 10 { vec![units] } else { vec![line(&tens), units] }
}

fn body(rows: &[Row<'_>], names: usize, step: usize, most: usize, style: &Style) -> Vec<String> {
    let whole: Vec<Vec<String>> = rows.iter().map(|row| wrap(&row.names(), names)).collect();
    let fits = whole.iter().map(Vec::len).sum::<usize>() <= most;
    let labels = if fits { whole } else { rows.iter().map(|row| vec![row.short(names)]).collect() };
    // Cells that are not as expected are shown before all others.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if rows.len() > most {
        order.sort_by_key(|row| !rows[*row].is_unexpected());
        order.truncate(most.saturating_sub(1));
    }
    let mut lines = Vec::new();
    for at in &order {
        let marks: String = (rows[*at].symbols.iter())
            .map(|(ink, symbols)| {
                format!("{}{}", style.paint(*ink, symbols), spaces(step.saturating_sub(width(symbols))))
            })
            .collect();
        for (line, label) in labels[*at].iter().enumerate() {
            let marks = if line == 0 { marks.trim_end() } else { "" };
            lines.push(format!("{} {marks}", left(label, names)).trim_end().to_owned());
        }
    }
    if order.len() < rows.len() {
        let shown: usize = order.iter().map(|row| rows[*row].designs.len()).sum();
        let all: usize = rows.iter().map(|row| row.designs.len()).sum();
        lines.push(style.paint(Ink::Dim, &format!("and {} more designs", all - shown)));
    }
    lines
}

fn dim(lines: Vec<String>, style: &Style) -> Vec<String> {
    lines.iter().map(|line| style.paint(Ink::Dim, line)).collect()
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{Cell, SCHEMA, Summary, Violation};

    use super::*;

    fn cell(design: &str, scenario: &str, violated: &[&str]) -> Cell {
        let violation = |name: &&str| ((*name).to_owned(), Violation { runs: 3, ..Violation::default() });
        Cell {
            design: design.into(),
            scenario: scenario.into(),
            runs: 10,
            hit_lock: 10,
            violations: violated.iter().map(violation).collect(),
            ..Cell::default()
        }
    }

    fn lines(cells: Vec<Cell>, columns: usize, most: usize) -> Vec<String> {
        let summary = Summary { schema: SCHEMA, cells, ..Summary::default() };
        matrix(&Matrix::of(&summary), &Style { colour: false, width: columns }, most)
    }

    #[test]
    fn designs_with_equal_rows_stand_together_and_harmless_violations_apart() {
        let cells = vec![
            cell("single", "pause", &["mutual-exclusion", "no-lost-update"]),
            cell("watchdog", "pause", &["effective-exclusion"]),
            cell("single-fenced", "pause", &["mutual-exclusion"]),
            cell("oracle", "pause", &[]),
        ];
        assert_eq!(
            lines(cells, 80, 50),
            [
                "                                     ┌ pause",
                "single, watchdog                     ✗",
                "single-fenced                        ~",
                "oracle                               ·",
                "✗ data harmed, ~ another invariant violated, ~: data unharmed, · none found",
            ]
        );
    }

    #[test]
    fn any_number_of_designs_keeps_to_its_lines_and_what_is_unexpected_is_kept() {
        let mut cells: Vec<Cell> = (0..300)
            .flat_map(|design: u32| {
                (0..9).map(move |bit| {
                    let violated: &[&str] = if design >> bit & 1 == 1 { &["progress"] } else { &[] };
                    cell(&format!("design-{design}"), &format!("s-{bit}"), violated)
                })
            })
            .collect();
        cells.last_mut().expect("there are cells").met = Some(false);
        let lines = lines(cells, 80, 30);
        assert!(lines.len() <= 30, "{} lines", lines.len());
        assert!(lines.iter().any(|line| line.starts_with("design-299 ")), "{lines:#?}");
        assert!(lines.iter().any(|line| line == "and 275 more designs"), "{lines:#?}");
    }

    #[test]
    fn scenarios_are_named_where_there_are_lines_for_it_and_numbered_otherwise() {
        let cells = || ["calm", "pause", "storm"].map(|name| cell("single", name, &[])).to_vec();
        let named = lines(cells(), 80, 10);
        assert!(named[0].ends_with("calm ┐  ┌ pause"), "{named:#?}");
        assert!(named[1].ends_with("│  │  ┌ storm"), "{named:#?}");
        let short = lines(cells(), 80, 3);
        assert!(short[0].ends_with("1  2  3"), "{short:#?}");
        assert!(short.contains(&"1 calm, 2 pause, 3 storm".to_owned()), "{short:#?}");
    }

    #[test]
    fn tens_stand_above_units_where_there_is_no_room_beside() {
        let cells = (0..30).map(|at| cell("a-design-with-a-name", &format!("s{at}"), &[])).collect();
        let lines = lines(cells, 81, 9);
        assert!(lines[0].trim_start().starts_with("1 1 1"), "{}", lines[0]);
        assert!(lines[1].trim_start().starts_with("1 2 3 4 5 6 7 8 9 0 1"), "{}", lines[1]);
        assert!(lines[2].starts_with("a-design-with-a-name"), "{}", lines[2]);
        assert!(lines.iter().all(|line| width(line) <= 81));
    }
}
