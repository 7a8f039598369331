//! The same results laid out as a comparison: which design protects the data and why; for each scenario a table of designs with the
//! rate of every invariant, the paired differences to the best, and what else was measured.
//!
//! Designs are compared on paired seeds: each ran the same ones, so the same workload and the same faults. Rates are
//! per run that exercised the scenario; intervals are Wilson's at 95%, those of differences Newcombe's, and zero violations
//! are stated as a bound.

use std::path::Path;

use self::differences::Against;
use self::measures::{MEASURES, further, measures};
use self::ranking::{Ranked, ranking};
use crate::brief::LINES;
use crate::format::{Format, ReportError};
use crate::layout::{enumerated, paragraph, printable, wrap};
use crate::markdown::{Table, block, code, escape};
use crate::paint::{Ink, Style};
use crate::verdict;

mod comparison;
mod data;
mod differences;
mod measures;
mod pairs;
mod ranking;
mod rates;
mod screen;

pub use self::comparison::Comparison;
pub use self::pairs::{Made, Pairs};

/// The formats of a comparison, the one for people first.
pub const ALL: &[Format<Comparison>] = &[
    Format {
        name: "text",
        file: "comparison.txt",
        doc: "a ranking, and a table of designs for each scenario",
        render: page,
    },
    Format {
        name: "json",
        file: "comparison.json",
        doc: "the same as one JSON object",
        render: data::render,
    },
    Format { name: "markdown", file: "comparison.md", doc: "the same as Markdown tables", render: markdown },
];

/// The format of a comparison with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format<Comparison>> {
    ALL.iter().find(|format| format.name == name)
}

const RANKED_BY: &str = "ranked by how often the data was harmed (effective-exclusion, no-lost-update), then by how \
                         often two held at once, then by anything else";
const NOTES: [&str; 4] = [
    "rates are per run that exercised the scenario, with Wilson's interval at 95%; 0 (<p): none, and so the rate is \
     below p at 95%, no more than that; ?: not exercised; -: says nothing of the design",
    "differences are in percentage points, over the seeds that both designs exercised, with Newcombe's paired interval at \
     95% (1998, method 10); one that leaves out 0 is hardly chance",
    "available: share of the time in which the lock was wanted and somebody held it; \
     p50, p99: latency of successful acquires; messages: client to store, per successful acquire",
    "renewals a second of simulated time, and the most within 10 ms of one run; two holders: of the time in which the lock \
     was wanted or held, each pair counted; passed by: the most that one waiter saw somebody served who had asked later; \
     a dead holder: how long the others waited for its lease",
];

fn page(comparison: &Comparison, style: &Style) -> Result<String, ReportError> {
    Ok(whole(comparison, style))
}

/// A comparison on one screen; the whole page where that fits. `out` is the directory that everything was written to, if any.
#[must_use]
pub fn screen(comparison: &Comparison, style: &Style, out: Option<&Path>) -> String {
    let whole = whole(comparison, style);
    if whole.lines().count() <= LINES { whole } else { screen::page(comparison, style, out) }
}

fn whole(comparison: &Comparison, style: &Style) -> String {
    let summary = &comparison.summary;
    let columns = style.columns();
    let mut page = head(comparison, style);
    page.push_str(&places(&ranking(summary), style).concat());
    let name = measures::name_columns(summary, columns);
    let invariants = rates::columns(summary);
    let against = differences::all(comparison);
    for scenario in comparison.scenarios() {
        page.push_str(&scenario_head(scenario, style));
        let cells = comparison.cells(scenario);
        page.push_str(&rates::table(&cells, &invariants, name, style));
        page.push_str(&differences(&against, scenario, columns));
        page.push_str(&measures::table(&cells, name, style));
    }
    page.push('\n');
    for line in enumerated(&rates::legend(&invariants), columns) {
        page.push_str(&format!("{line}\n"));
    }
    for note in NOTES {
        page.push_str(&paragraph(note, 0, columns));
    }
    page
}

fn head(comparison: &Comparison, style: &Style) -> String {
    let command = style.paint(Ink::Head, &printable(&comparison.summary.command));
    format!("{command}\n{}", paragraph(&comparison.pairing(), 0, style.columns()))
}

/// The ranking: its title, a paragraph for each place, and by what it is ordered.
fn places(ranking: &[Ranked<'_>], style: &Style) -> Vec<String> {
    let columns = style.columns();
    let title = format!("\n{}\n", style.paint(Ink::Head, "protects the data"));
    let places = ranking
        .iter()
        .zip(1..)
        .map(|(ranked, place)| paragraph(&printable(&said(ranked, place)), 2, columns));
    std::iter::once(title).chain(places).chain([paragraph(RANKED_BY, 0, columns)]).collect()
}

fn scenario_head(scenario: &str, style: &Style) -> String {
    let lines = wrap(&printable(scenario), style.columns());
    lines.iter().fold("\n".to_owned(), |page, line| page + &style.paint(Ink::Head, line) + "\n")
}

/// The paired differences under a scenario.
fn differences(all: &[Against<'_>], scenario: &str, columns: usize) -> String {
    let mut page = String::new();
    for against in all.iter().filter(|against| against.scenario == scenario) {
        let words: Vec<String> = against.words().iter().map(|it| printable(it).into_owned()).collect();
        for (at, line) in enumerated(&words, columns.saturating_sub(4)).iter().enumerate() {
            page.push_str(&format!("{}{line}\n", if at == 0 { "  " } else { "    " }));
        }
    }
    page
}

fn said(ranked: &Ranked<'_>, place: usize) -> String {
    let why = if ranked.why.is_empty() { String::new() } else { format!(": {}", ranked.why) };
    format!("{place}. {}: {}{why}", ranked.design, ranked.protects.words())
}

fn markdown(comparison: &Comparison, _style: &Style) -> Result<String, ReportError> {
    let summary = &comparison.summary;
    let mut page = format!(
        "# Comparison\n\n{}\n\nAll numbers are made again by\n\n{}\n## Protects the data\n\n",
        comparison.pairing(),
        block(&summary.command)
    );
    for (ranked, place) in ranking(summary).iter().zip(1..) {
        let why = if ranked.why.is_empty() { String::new() } else { format!(": {}", ranked.why) };
        page.push_str(&format!(
            "{place}. {}: {}{}\n",
            code(ranked.design),
            ranked.protects.words(),
            escape(&why)
        ));
    }
    page.push_str(&format!("\n{RANKED_BY}\n\n"));
    let invariants = rates::columns(summary);
    let differences = differences::all(comparison);
    for scenario in comparison.scenarios() {
        let numbers = invariants.iter().map(|invariant| invariant.number);
        let mut table =
            Table::new(std::iter::once("design").chain(numbers).chain(MEASURES).chain(["further"]));
        for cell in comparison.cells(scenario) {
            let rate = |invariant: &&'static _| {
                let (rate, interval) = rates::rate(cell, invariant);
                escape(&interval.map(|interval| format!("{rate} ({interval})")).unwrap_or(rate))
            };
            let mut further = further(&cell.metrics);
            if cell.skipped.is_some() {
                further.push(escape(&verdict::found(cell)));
            }
            let rates = invariants.iter().map(rate);
            let row = std::iter::once(code(&cell.design)).chain(rates).chain(measures(&cell.metrics));
            table.row(row.chain([further.join("<br>")]));
        }
        page.push_str(&format!("## {}\n\n{}\n", escape(scenario), table.text));
        let here = differences.iter().filter(|against| against.scenario == scenario);
        let lines: Vec<String> = here.map(|it| format!("- {}\n", escape(&it.words().join(", ")))).collect();
        if !lines.is_empty() {
            page.push_str(&format!("{}\n", lines.concat()));
        }
    }
    page.push_str(&format!("- {}\n", rates::legend(&invariants).join(", ")));
    for note in NOTES {
        page.push_str(&format!("- {note}\n"));
    }
    Ok(page)
}
