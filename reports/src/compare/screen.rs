//! A comparison on one screen: the ranking, a table with a column for each invariant, where the details are, and what to look at
//! next, in at most [`LINES`] lines, however many designs and scenarios there are.
//!
//! Under one scenario it is that scenario's own table, with intervals, and the differences, as far as there is room. Otherwise
//! the runs of all scenarios that every design ran are added up: a line for each design, in the order of the ranking.

use std::path::Path;

use picklock_campaign::summary::Cell;
use picklock_judge::invariants::Invariant;

use super::comparison::Comparison;
use super::parts::{head, places, scenario_head};
use super::ranking::{Ranked, applies, ranking};
use super::shared::Shared;
use super::{differences, measures, parts, rates};
use crate::formats::brief;
use crate::matrix::statistics::clean_bound;
use crate::matrix::verdict::{self, Mark};
use crate::page::layout::{enumerated, left, paragraph, right, spaces, titled, width, wrap};
use crate::page::paint::{Ink, Style, inked};

/// At most so many lines.
pub(super) const LINES: usize = 50;
/// Columns of one invariant where runs are added up, with the gap before it.
const COLUMN: usize = 5;
/// Names are given so many columns at most, and broken if they are longer.
const NAME: usize = 24;
/// The reasons of at least so many places are shown, however many designs there are.
const LEAST: usize = 3;

const ALONE: &str = "0 (<p): none found, rate below p at 95%; ?: inconclusive; -: does not apply";
const DIFFERENCES: &str = "differences in percentage points; if 0 is outside, probably not random";
const SUMMED: &str = "each figure: the share of the conclusive runs that violate the invariant; <p: no violation was found, so \
                      the rate is below p at 95%; ?: inconclusive; -: does not apply";

/// The page. `out` is the directory that everything was written to, if any.
pub(super) fn page(comparison: &Comparison, style: &Style, out: Option<&Path>) -> String {
    let ranking = ranking(&comparison.summary);
    let all = places(&comparison.summary, &ranking, style);
    let start = head(comparison, style);
    let since = comparison.since.as_ref().map(|since| since.page(style)).unwrap_or_default();
    let mut end = since + "\n";
    details(&mut end, out, style);
    brief::next(&mut end, &comparison.summary, style);
    let room = LINES.saturating_sub(lines(&start) + lines(&end));
    let ranked = all.concat();
    let alone = alone(comparison, style).into_iter();
    if let Some(table) = alone.into_iter().find(|table| lines(&ranked) + lines(table) <= room) {
        return start + &ranked + &table + &end;
    }
    let whole = summed(comparison, &ranking, style, usize::MAX);
    let ranked = first_places(&all, room.saturating_sub(lines(&whole)), style);
    let table = summed(comparison, &ranking, style, room.saturating_sub(lines(&ranked)));
    start + &ranked + &table + &end
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Under one scenario, what is said of it at length, and less of it.
fn alone(comparison: &Comparison, style: &Style) -> Vec<String> {
    let [scenario] = comparison.scenarios()[..] else { return Vec::new() };
    let columns = style.columns();
    let summary = &comparison.summary;
    let invariants = rates::columns(summary);
    let name = measures::name_columns(summary, columns);
    let table =
        scenario_head(scenario, style) + &rates::table(&comparison.cells(scenario), &invariants, name, style);
    let legend = legend(&invariants, columns) + &paragraph(ALONE, 0, columns);
    let differences = parts::differences(&differences::all(comparison), scenario, columns);
    let at_length = format!("{table}{differences}{legend}{}", paragraph(DIFFERENCES, 0, columns));
    vec![at_length, table + &legend]
}

fn legend(invariants: &[&'static Invariant], columns: usize) -> String {
    let lines = enumerated(&rates::legend(invariants), columns);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The first places with their reasons, as many as fit, and how many follow.
fn first_places(places: &[String], room: usize, style: &Style) -> String {
    let (title, places) =
        places.split_first().map_or((String::new(), places), |(title, places)| (title.clone(), places));
    let (rule, places) =
        places.split_last().map_or((String::new(), places), |(rule, places)| (rule.clone(), places));
    let more = |count: usize| match places.len() - count {
        0 => String::new(),
        more => paragraph(&format!("and {more} more, in the order of the table"), 2, style.columns()),
    };
    let with = |count: usize| format!("{title}{}{}{rule}", places[..count].concat(), more(count));
    let least = LEAST.min(places.len());
    (least..=places.len()).rev().map(with).find(|it| lines(it) <= room).unwrap_or_else(|| with(least))
}

/// How often each design violated each invariant in all runs, in at most so many lines.
fn summed(comparison: &Comparison, ranking: &[Ranked<'_>], style: &Style, most: usize) -> String {
    let invariants = rates::columns(&comparison.summary);
    let columns = style.columns();
    let note = legend(&invariants, columns) + &paragraph(SUMMED, 0, columns);
    let longest =
        ranking.iter().map(|ranked| width(&titled(ranked.design))).max().unwrap_or(0).max("design".len());
    let beside = columns.saturating_sub(2 + COLUMN * invariants.len());
    let name = longest.min(NAME).min(if beside >= NAME / 2 { beside } else { columns / 2 });
    let band = (columns.saturating_sub(2 + name) / COLUMN).max(1);
    let bands = invariants.chunks(band);
    let most = most.saturating_sub(1 + lines(&note)) / bands.len().max(1);
    let mut page = String::from("\n");
    for invariants in bands {
        let heads: String = invariants.iter().map(|invariant| right(invariant.number, COLUMN)).collect();
        let line = format!("  {}{heads}", left("design", name));
        page.push_str(&format!("{}\n", style.paint(Ink::Dim, &line)));
        page.push_str(&rows(comparison, ranking, invariants, name, most.saturating_sub(1), style));
    }
    page + &note
}

fn rows(
    comparison: &Comparison,
    ranking: &[Ranked<'_>],
    invariants: &[&'static Invariant],
    name: usize,
    most: usize,
    style: &Style,
) -> String {
    let shared = Shared::of(&comparison.summary);
    let row = |ranked: &Ranked<'_>| -> String {
        let own = comparison.summary.cells.iter().filter(|cell| cell.design == ranked.design);
        let cells: Vec<&Cell> = own.filter(|cell| shared.holds(cell)).collect();
        let rates: String = (invariants.iter())
            .map(|invariant| {
                let (ink, rate) = rate(&cells, invariant);
                spaces(COLUMN.saturating_sub(width(&rate))) + &style.paint(ink, &rate)
            })
            .collect();
        let labels = wrap(&titled(ranked.design), name);
        let label = |(at, label): (usize, &String)| match at {
            0 => format!("  {}{rates}\n", left(label, name)),
            _ => format!("  {label}\n"),
        };
        labels.iter().enumerate().map(label).collect()
    };
    let all: Vec<String> = ranking.iter().map(row).collect();
    if all.iter().map(|row| lines(row)).sum::<usize>() <= most {
        return all.concat();
    }
    let mut used = 1;
    let fits = all.iter().take_while(|row| {
        used += lines(row);
        used <= most
    });
    let shown = fits.count();
    let more = format!("  and {} more designs\n", all.len() - shown);
    all[..shown].concat() + &style.paint(Ink::Dim, &more)
}

/// How often a design violated an invariant, over those of the scenarios that say something of it, in four columns.
fn rate(cells: &[&Cell], invariant: &Invariant) -> (Ink, String) {
    let applicable: Vec<&&Cell> = cells.iter().filter(|cell| applies(cell, invariant.name)).collect();
    if applicable.is_empty() {
        return (Ink::Plain, Mark::NotApplicable.sign().to_owned());
    }
    let runs = |cell: &Cell| cell.violations.get(invariant.name).map_or(0, |violation| violation.runs);
    let known = applicable.iter().filter(|cell| runs(cell) > 0 || Mark::of(cell) != Mark::Inconclusive);
    let (violated, conclusive) = known.fold((0, 0), |(violated, conclusive), cell| {
        (violated + runs(cell), conclusive + verdict::conclusive(cell))
    });
    match clean_bound(conclusive) {
        None => (Ink::Plain, Mark::Inconclusive.sign().to_owned()),
        Some(bound) if violated == 0 => (Ink::Plain, format!("<{:.0}%", (bound * 100.0).ceil())),
        Some(_) => {
            let ink = if verdict::is_of_data(invariant.name) { Ink::Bad } else { Ink::Warn };
            (ink, short(violated as f64 / conclusive as f64))
        }
    }
}

/// A share that is more than 0.
fn short(share: f64) -> String {
    let tenths = (share * 1000.0).round().max(1.0);
    if tenths < 10.0 { format!(".{tenths:.0}%") } else { format!("{:.0}%", share * 100.0) }
}

fn details(page: &mut String, out: Option<&Path>, style: &Style) {
    let what = "all tables, differences and measures";
    let words = match out {
        None => format!("{what}: add --verbose, or --out DIR for files"),
        Some(out) => format!("{what}: in {}", out.display()),
    };
    inked(page, Ink::Plain, &words, 0, style);
}
