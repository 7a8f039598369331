//! The finding about the locks, in a sentence: the first line of a page of results.
//!
//! Designs are counted by the worst that was found of each under any of the scenarios; of a single design the scenarios are
//! named. Whether all that was expected is another question, and stands elsewhere.

use std::borrow::Cow;

use super::mark::Mark;
use super::verdict;
use super::{Matrix, Row, Square};
use crate::page::layout::{printable, titled};
use crate::page::numbers::plural;

/// At most so many names stand in the sentence.
const NAMED: usize = 3;

/// The sentence, without colour and line ends.
pub(crate) fn line(matrix: &Matrix<'_>) -> String {
    let summary = matrix.summary;
    let partial = if summary.partial { "(partial: interrupted) " } else { "" };
    let sentence = match matrix.rows.as_slice() {
        [] => "nothing was run".to_owned(),
        [row] => one(row),
        rows => many(rows, &matrix.scenarios),
    };
    let runs: u64 = summary.cells.iter().map(|cell| cell.runs).sum();
    let runs =
        if summary.cells.len() > 1 { format!(" ({runs} {})", plural(runs, "run")) } else { String::new() };
    printable(&format!("{partial}{sentence}{runs}")).into_owned()
}

/// The meaning of a mark for a design, as a clause.
fn clause(mark: Mark) -> &'static str {
    match mark {
        Mark::Harmed => "harmed the data",
        Mark::Blocked => "ended in a lock that nobody could acquire in time",
        Mark::Violated => "violated an invariant and left the data unharmed",
        Mark::Holds => "showed no violation",
        Mark::Inconclusive => "were inconclusive",
        Mark::NotApplicable => "do not apply",
    }
}

/// One design: under which of its scenarios what was found.
fn one(row: &Row<'_>) -> String {
    let found: Vec<&Square<'_>> = row.squares.iter().flatten().collect();
    if let [square] = found.as_slice() {
        return alone(&titled(row.design), square);
    }
    let of = found.iter().filter(|square| square.mark != Mark::NotApplicable).count();
    let under = |mark: Mark| {
        let names: Vec<&str> = found
            .iter()
            .filter(|square| square.mark == mark)
            .map(|square| square.cell.scenario.as_str())
            .collect();
        let count = names.len();
        let said = match mark {
            Mark::Harmed => "harmed the data",
            Mark::Blocked => "could not be acquired in time",
            Mark::Violated => "violated an invariant without harm",
            Mark::Holds => "showed no violation",
            Mark::Inconclusive | Mark::NotApplicable => "is inconclusive",
        };
        (count > 0).then(|| format!("{said} under {count}{}", named(&names)))
    };
    let parts: Vec<String> = [Mark::Harmed, Mark::Blocked, Mark::Violated, Mark::Holds, Mark::Inconclusive]
        .into_iter()
        .filter_map(under)
        .collect();
    match parts.as_slice() {
        [] => format!("no scenario applies to {}", titled(row.design)),
        parts => {
            format!("of {of} {}, {} {}", plural(of as u64, "scenario"), titled(row.design), parts.join(", "))
        }
    }
}

/// One design under one scenario.
fn alone(design: &str, square: &Square<'_>) -> String {
    let cell = square.cell;
    let scenario = &cell.scenario;
    let often = format!("in {} of {} {}", square.worst.unwrap_or(0), cell.runs, plural(cell.runs, "run"));
    match square.mark {
        Mark::Harmed => format!("{design} harmed the data under {scenario} {often}"),
        Mark::Blocked => {
            format!("{design} could not be acquired in time under {scenario} {often}; no data were harmed")
        }
        Mark::Violated => {
            format!("{design} violated an invariant under {scenario} {often}; no data were harmed")
        }
        Mark::Holds => format!("{design} showed no violation under {scenario}: {}", verdict::found(cell)),
        Mark::Inconclusive => format!("{design} under {scenario} is inconclusive: {}", verdict::found(cell)),
        Mark::NotApplicable => format!("{scenario} does not apply to {design}: {}", verdict::found(cell)),
    }
}

/// Many designs, each by the worst that was found of it.
fn many(rows: &[Row<'_>], scenarios: &[&str]) -> String {
    let worst = |row: &Row<'_>| row.squares.iter().flatten().map(|square| square.mark).min();
    let groups = Mark::ALL.into_iter().filter_map(|mark| {
        let titles: Vec<Cow<'_, str>> =
            rows.iter().filter(|row| worst(row) == Some(mark)).map(|row| titled(row.design)).collect();
        let names: Vec<&str> = titles.iter().map(|title| &**title).collect();
        (!names.is_empty()).then(|| format!("{}{} {}", names.len(), named(&names), clause(mark)))
    });
    let groups: Vec<String> = groups.collect();
    let under = match scenarios {
        [scenario] => (*scenario).to_owned(),
        all => format!("{} scenarios", all.len()),
    };
    format!("of {} designs under {under}, {}", rows.len(), groups.join(", "))
}

/// The names in parentheses, if there are few.
fn named(names: &[&str]) -> String {
    if names.len() > NAMED { String::new() } else { format!(" ({})", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{Cell, Summary, Violation};

    use super::*;

    fn cell(design: &str, scenario: &str, violated: &[&str]) -> Cell {
        let violation = |name: &&str| ((*name).to_owned(), Violation { runs: 5, ..Violation::default() });
        Cell {
            design: design.into(),
            scenario: scenario.into(),
            runs: 20,
            hit_lock: 20,
            violations: violated.iter().map(violation).collect(),
            ..Cell::default()
        }
    }

    fn said(cells: Vec<Cell>) -> String {
        line(&Matrix::of(&Summary { cells, ..Summary::default() }))
    }

    #[test]
    fn a_cell_alone_is_named_with_how_often_it_was_found() {
        assert_eq!(
            said(vec![cell("single", "pause", &["no-lost-update"])]),
            "single harmed the data under pause in 5 of 20 runs"
        );
        assert_eq!(
            said(vec![cell("setnx", "client-crash", &["progress"])]),
            "setnx could not be acquired in time under client-crash in 5 of 20 runs; no data were harmed"
        );
        assert_eq!(
            said(vec![cell("single", "calm", &[])]),
            "single showed no violation under calm: 0 in 20 runs, below 14% at 95%"
        );
    }

    #[test]
    fn a_design_is_described_by_its_scenarios_and_many_by_the_worst_of_each() {
        let cells = || {
            vec![
                cell("single", "pause", &["no-lost-update"]),
                cell("single", "calm", &[]),
                cell("setnx", "pause", &[]),
                cell("setnx", "calm", &["progress"]),
                cell("oracle", "pause", &[]),
                cell("oracle", "calm", &[]),
            ]
        };
        assert_eq!(
            said(cells().into_iter().take(2).collect()),
            "of 2 scenarios, single harmed the data under 1 (pause), showed no violation under 1 (calm) (40 runs)"
        );
        assert_eq!(
            said(cells()),
            "of 3 designs under 2 scenarios, 1 (single) harmed the data, 1 (setnx) ended in a lock that nobody could \
             acquire in time, 1 (oracle) showed no violation (120 runs)"
        );
        assert_eq!(said(Vec::new()), "nothing was run");
    }
}
