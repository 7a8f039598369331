//! Results on one screen: what was found about the locks in a sentence, the folded matrix, which libraries its rows stand for, what
//! is not as expected, where the details are, and what to look at next.
//!
//! As long as everything is as expected the page has at most [`LINES`] lines, however many designs were run. What is not as
//! expected comes on top of that, and is bounded too: the first cells with the line that replays each, and the first
//! stories in short. A handful of cells is not worth a summary: they are shown as [`text`] shows them, the
//! stories in short.

use std::path::Path;

use picklock_campaign::story::Story;
use picklock_campaign::summary::{Cell, Summary, Violation};
use picklock_model::family;

use super::text;
use crate::matrix::verdict::{self, ExpectationStatus, Mark, Totals};
use crate::matrix::{Matrix, finding, folded, legend};
use crate::page::layout::{distinct, printable, titled, wrap};
use crate::page::numbers::plural;
use crate::page::paint::{Ink, Style, inked};
use crate::story::paragraph;
use crate::story::timeline::Detail;

/// At most so many lines, and one screen, when everything is as expected.
pub const LINES: usize = 80;
/// So many cells that say something are shown one by one.
pub const FEW: u64 = 4;
/// At most so many cells that are not as expected are listed.
const LISTED: usize = 8;

/// The results on one screen. `out` is the directory that everything was written to, if any.
#[must_use]
pub fn page(summary: &Summary, style: &Style, out: Option<&Path>) -> String {
    if Totals::of(summary).cells <= FEW {
        return text::page(summary, style, Detail::Short);
    }
    let mut page = String::new();
    let matrix = Matrix::of(summary);
    inked(&mut page, Ink::Head, &finding::line(&matrix), 0, style);
    page.push_str(&format!("{}\n", style.paint(Ink::Dim, &printable(&summary.command))));
    let (ink, words) = verdict(summary);
    let mut end = String::from("\n");
    // That all is as expected is a statement about picklock, and stands at the end; that something is not stands first.
    if ink == Ink::Good {
        inked(&mut end, Ink::Dim, &words, 0, style)
    } else {
        inked(&mut page, ink, &words, 0, style)
    }
    page.push('\n');
    details(&mut end, out, style);
    next(&mut end, summary, style);
    let mut below = libraries(summary, &matrix, style);
    below.extend(legend::leases(summary).iter().flat_map(|leases| wrap(leases, style.columns())));
    let used = page.lines().count() + end.lines().count() + below.len();
    for line in folded::matrix(&matrix, style, LINES.saturating_sub(used)).iter().chain(&below) {
        page.push_str(&format!("{line}\n"));
    }
    unexpected(&mut page, summary, style);
    page + &end
}

/// Which row stands for the lock of a well-known library, for the rows that are there.
fn libraries(summary: &Summary, matrix: &Matrix<'_>, style: &Style) -> Vec<String> {
    let mut of_rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for (library, design) in &summary.about.libraries {
        if matrix.row(family::name_of(design)).is_none() {
            continue;
        }
        match of_rows.iter_mut().find(|(row, _)| row == design) {
            Some((_, libraries)) => libraries.push(library),
            None => of_rows.push((design, vec![library])),
        }
    }
    if of_rows.is_empty() {
        return Vec::new();
    }
    let rows: Vec<String> =
        of_rows.iter().map(|(row, libraries)| format!("{} = {row}", libraries.join(", "))).collect();
    wrap(&format!("your lock: {}", rows.join("; ")), style.columns())
}

/// The results in one line, without colour.
#[must_use]
pub fn line(summary: &Summary) -> String {
    verdict(summary).1
}

/// The designs with something that makes the campaign fail.
#[must_use]
pub fn failing(summary: &Summary) -> Vec<String> {
    let cells = summary.cells.iter().filter(|cell| is_unexpected(cell));
    distinct(cells.map(|cell| cell.design.as_str())).into_iter().map(str::to_owned).collect()
}

/// The results in one line.
fn verdict(summary: &Summary) -> (Ink, String) {
    let totals = Totals::of(summary);
    let unexpected = summary.cells.iter().filter(|cell| is_unexpected(cell)).count();
    let Totals { runs, cells, clean, violated, unknown, too_few, .. } = totals;
    let made = format!("{cells} {}, after {runs} {}", plural(cells, "cell"), plural(runs, "run"));
    let counted = format!("{violated} violated, {clean} clean, {unknown} unknown");
    let (ink, words) = if unexpected > 0 {
        (Ink::Bad, format!("{}: {unexpected} of {made}", unexpected_word(summary)))
    } else if summary.cells.iter().all(|cell| verdict::conclusive(cell) == 0) {
        (Ink::Warn, format!("inconclusive in {made}: no run can show anything"))
    } else if too_few > 0 {
        let met = totals.met;
        (Ink::Good, format!("as expected in {met} of {made}; {too_few} need more runs"))
    } else if totals.met > 0 {
        (Ink::Good, format!("as expected in {made}: {counted}"))
    } else {
        (Ink::Good, format!("none violated in {made}: {clean} clean, {unknown} unknown"))
    };
    let partial = if summary.partial { "(partial: interrupted) " } else { "" };
    (ink, format!("{partial}{words}"))
}

/// Where nothing is expected, nothing can be other than expected.
fn unexpected_word(summary: &Summary) -> &'static str {
    let expected = summary.cells.iter().any(|cell| cell.expected.is_some());
    if expected { "NOT as expected" } else { "violated" }
}

/// True if a cell makes the campaign fail.
fn is_unexpected(cell: &Cell) -> bool {
    match ExpectationStatus::of(cell) {
        ExpectationStatus::NotMet => true,
        ExpectationStatus::NoExpectation => Mark::of(cell).is_violation(),
        ExpectationStatus::Met | ExpectationStatus::TooFew => false,
    }
}

/// The unexpected results, the most interesting first, with their stories: all of few, or else the first.
fn unexpected(page: &mut String, summary: &Summary, style: &Style) {
    let mut cells: Vec<&Cell> = summary.cells.iter().filter(|cell| is_unexpected(cell)).collect();
    cells.sort_by_cached_key(|cell| {
        let least = violations(cell).map(|(invariant, it)| interest(summary, cell, invariant, it)).min();
        (least.is_none(), least)
    });
    if cells.is_empty() {
        return;
    }
    page.push('\n');
    let title = format!("{}, each with the line that replays it", unexpected_word(summary));
    inked(page, Ink::Head, &title, 0, style);
    for cell in cells.iter().take(LISTED) {
        unexpected_cell(page, cell, style);
    }
    if let Some(more) = cells.len().checked_sub(LISTED).filter(|more| *more > 0) {
        inked(page, Ink::Dim, &format!("and {more} more {}", plural(more as u64, "cell")), 0, style);
    }
    text::stories(page, cells.into_iter(), style, Detail::Short);
}

fn violations(cell: &Cell) -> impl Iterator<Item = (&str, &Violation)> + Clone {
    cell.violations.iter().map(|(invariant, violation)| (invariant.as_str(), violation))
}

/// A cell: what it violates and should not, how that happened if it is known, and how to see it.
fn unexpected_cell(page: &mut String, cell: &Cell, style: &Style) {
    let counted: Vec<(&String, &Violation)> =
        cell.violations.iter().filter(|(invariant, _)| verdict::counts(cell, invariant)).collect();
    let Some((invariant, first)) = counted.first() else {
        let why = cell.unmet_because.as_deref().unwrap_or("the results differ from the expectation file");
        inked(page, Ink::Bad, &format!("{}, {}: {why}", titled(&cell.design), cell.scenario), 0, style);
        return;
    };
    let others: Vec<&str> = counted.iter().skip(1).map(|(invariant, _)| invariant.as_str()).collect();
    let others = if others.is_empty() { String::new() } else { format!("; also {}", others.join(", ")) };
    inked(page, Ink::Bad, &format!("{}{others}", text::headline(cell, invariant, first)), 0, style);
    if let Some(found) = first.story.as_deref().and_then(headline) {
        inked(page, Ink::Plain, &found, 2, style);
    }
    page.push_str(&format!("  {}\n", style.paint(Ink::First, &printable(&first.replay))));
}

/// The first sentence of a story.
fn headline(story: &Story) -> Option<String> {
    paragraph::found(story).into_iter().next()
}

fn details(page: &mut String, out: Option<&Path>, style: &Style) {
    let words = match out {
        None => "all cells, violations and replay lines: add --verbose, or --out DIR for files".to_owned(),
        Some(out) => format!("all cells, violations, replay lines and repro files: in {}", out.display()),
    };
    inked(page, Ink::Plain, &words, 0, style);
}

/// One command that is worth a look now: what is not as expected, or else a run that is soon read.
pub(crate) fn next(page: &mut String, summary: &Summary, style: &Style) {
    match most_informative(summary) {
        Some(violation) => {
            let line = format!("{} --shrink", printable(&violation.replay));
            page.push_str(&format!("next: {}\n", style.paint(Ink::First, &line)));
        }
        None => {
            let most = summary.cells.iter().map(|cell| cell.runs).max().unwrap_or(0).max(10);
            let words =
                format!("next: more runs make the bound tighter: --seeds {}", most.saturating_mul(10));
            inked(page, Ink::Plain, &words, 0, style);
        }
    }
}

fn most_informative(summary: &Summary) -> Option<&Violation> {
    let all = summary
        .cells
        .iter()
        .flat_map(|cell| violations(cell).map(move |(name, violation)| (cell, name, violation)));
    let unexpected = all.clone().filter(|(cell, invariant, _)| verdict::counts(cell, invariant));
    let rarest =
        unexpected.min_by_key(|(cell, invariant, violation)| interest(summary, cell, invariant, violation));
    let plainest = || all.min_by_key(|(cell, invariant, violation)| plainness(cell, invariant, violation));
    rarest.or_else(plainest).map(|(_, _, violation)| violation)
}

/// The less, the sooner a run of it is understood: the data harmed, no control, the fault that everybody knows, the lock that most
/// libraries have; and then the more often it is found.
fn plainness(cell: &Cell, invariant: &str, violation: &Violation) -> (bool, bool, bool, bool, u128) {
    (
        !verdict::is_of_data(invariant),
        cell.design == "no-lock",
        cell.scenario != "pause",
        cell.design != "single",
        u128::MAX - rarity(cell, violation),
    )
}

/// The less, the more interesting: what is not as expected before what is, what harms the data before what does not, then of the
/// design that is harmed under the fewest scenarios, and there the rarest. So fails a lock that nearly holds.
fn interest(
    summary: &Summary,
    cell: &Cell,
    invariant: &str,
    violation: &Violation,
) -> (bool, bool, usize, u128) {
    let of_design = summary.cells.iter().filter(|other| other.design == cell.design);
    let harmed = of_design.filter(|other| verdict::harms_data(other)).count();
    let rarity = rarity(cell, violation);
    (!verdict::counts(cell, invariant), !verdict::is_of_data(invariant), harmed, rarity)
}

/// How often a violation is found; the less, the rarer.
fn rarity(cell: &Cell, violation: &Violation) -> u128 {
    (u128::from(violation.runs) << 64) / u128::from(verdict::conclusive(cell).max(1))
}
