//! The rates at which each design violated each invariant, in columns that are the same for every scenario: what was never violated is
//! shown with its bound, because that is what decides.

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::invariants::{self, Invariant};

use super::measures;
use super::ranking::applies;
use crate::matrix::statistics;
use crate::matrix::verdict::{self, Mark};
use crate::page::layout::{left, paragraph, printable, titled, width};
use crate::page::numbers::{percent, percent_up};
use crate::page::paint::{Ink, Style};

/// Columns of one invariant, with the gap before it.
const COLUMN: usize = 13;

/// The invariants that say something of any of the designs, by number.
pub(crate) fn columns(summary: &Summary) -> Vec<&'static Invariant> {
    let of_any = |invariant: &&Invariant| summary.cells.iter().any(|cell| applies(cell, invariant.name));
    invariants::ALL.iter().filter(of_any).collect()
}

/// A rate, and its interval if there is one.
pub(crate) fn rate(cell: &Cell, invariant: &Invariant) -> (String, Option<String>) {
    let conclusive = verdict::conclusive(cell);
    if !applies(cell, invariant.name) {
        return (Mark::NotApplicable.sign().to_owned(), None);
    }
    match cell.violations.get(invariant.name) {
        Some(violation) => {
            let interval = statistics::wilson(violation.runs, conclusive)
                .map(|(low, high)| format!("{}-{}", percent(low).trim_end_matches('%'), percent(high)));
            (percent(violation.runs as f64 / conclusive.max(1) as f64), interval)
        }
        None if Mark::of(cell) == Mark::Inconclusive => (Mark::Inconclusive.sign().to_owned(), None),
        None => match statistics::clean_bound(
            cell.invariants.get(invariant.name).map_or(conclusive, |judged| judged.decided),
        ) {
            Some(bound) => (format!("0 (<{})", percent_up(bound)), None),
            None => (Mark::Inconclusive.sign().to_owned(), None),
        },
    }
}

/// The table of one scenario, in as many bands of columns as the page is too narrow for.
pub(crate) fn table(cells: &[&Cell], columns: &[&'static Invariant], name: usize, style: &Style) -> String {
    let band = (style.columns().saturating_sub(2 + name) / COLUMN).max(1);
    let mut page = String::new();
    for invariants in columns.chunks(band) {
        let head: String =
            invariants.iter().map(|invariant| format!("  {}", left(invariant.number, COLUMN - 2))).collect();
        let head = format!("  {}{}", left(if name > 0 { "design" } else { "" }, name), head.trim_end());
        page.push_str(&format!("{}\n", style.paint(Ink::Dim, &head)));
        for cell in cells.iter().filter(|cell| cell.skipped.is_none()) {
            row(&mut page, cell, invariants, name, style);
        }
    }
    for cell in cells.iter().filter(|cell| cell.skipped.is_some()) {
        let words = format!("{}: {}", titled(&cell.design), verdict::found(cell));
        page.push_str(&paragraph(&printable(&words), 2, style.columns()));
    }
    page
}

fn row(page: &mut String, cell: &Cell, invariants: &[&'static Invariant], name: usize, style: &Style) {
    let label = measures::label(page, cell, name, style);
    let rates: Vec<(Ink, String, Option<String>)> = (invariants.iter())
        .map(|invariant| {
            let (rate, interval) = rate(cell, invariant);
            let ink = match interval {
                Some(_) if verdict::is_of_data(invariant.name) => Ink::Bad,
                Some(_) => Ink::Warn,
                None => Ink::Plain,
            };
            (ink, rate, interval)
        })
        .collect();
    let line: String = (rates.iter())
        .map(|(ink, rate, _)| style.paint(*ink, rate) + &" ".repeat((COLUMN - 2).saturating_sub(width(rate))))
        .map(|rate| format!("  {rate}"))
        .collect();
    page.push_str(&format!("{}\n", format!("  {label}{line}").trim_end()));
    if rates.iter().any(|(_, _, interval)| interval.is_some()) {
        let interval = |interval: &Option<String>| left(interval.as_deref().unwrap_or(""), COLUMN - 2);
        let line: String = rates.iter().map(|(_, _, it)| format!("  {}", interval(it))).collect();
        let line = format!("  {}{}", left("", name), line.trim_end());
        page.push_str(&format!("{}\n", style.paint(Ink::Dim, &line)));
    }
}

/// The meaning of the numbers above the columns.
pub(crate) fn legend(columns: &[&'static Invariant]) -> Vec<String> {
    columns.iter().map(|invariant| format!("{} {}", invariant.number, invariant.name)).collect()
}
