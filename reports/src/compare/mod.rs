//! The same results laid out as a comparison: which design protects the data and why; for each scenario a table of designs with the
//! rate of every invariant, the paired differences to the best, and what else was measured.
//!
//! Designs are compared on paired seeds: each ran the same ones, so the same workload and the same faults. Rates are
//! per run that exercised the scenario; intervals are Wilson's at 95%, those of differences Newcombe's, and zero violations
//! are stated as a bound.

use std::path::Path;

use self::measures::{MEASURES, further, measures};
use self::parts::{head, places, ranked_by, scenario_head};
use self::ranking::ranking;
use crate::format::{Format, ReportError};
use crate::formats::brief::LINES;
use crate::html;
use crate::matrix::verdict;
use crate::page::layout::{enumerated, paragraph};
use crate::page::markdown::{Table, block, code, escape};
use crate::page::paint::Style;

pub(crate) mod comparison;
mod data;
pub(crate) mod differences;
mod exact;
pub(crate) mod measures;
mod pairs;
mod parts;
pub(crate) mod ranking;
pub(crate) mod rates;
mod screen;
pub(crate) mod shared;
mod since;

pub use self::comparison::Comparison;
pub use self::pairs::{Made, Pairs};
pub use self::since::{Baseline, Since};

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
    html::COMPARISON,
];

/// The format of a comparison with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format<Comparison>> {
    ALL.iter().find(|format| format.name == name)
}

const NOTES: [&str; 4] = [
    "rates are per run that exercised the scenario, with Wilson's interval at 95%; 0 (<p): none, and so the rate is \
     below p at 95%, no more than that; ?: not exercised; -: says nothing of the design",
    "differences are in percentage points, over the seeds that both designs exercised, with Newcombe's paired interval at \
     95% (1998, method 10); one that leaves out 0 is hardly chance",
    "available: share of the time in which the lock was wanted and somebody held it; \
     p50, p99: latency of successful acquires; messages: client to store, per successful acquire",
    "renewals a second of simulated time, and the most within 10 ms of one run; too many holders: of the time in which the lock \
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
    page.push_str(&places(summary, &ranking(summary), style).concat());
    let name = measures::name_columns(summary, columns);
    let invariants = rates::columns(summary);
    let against = differences::all(comparison);
    for scenario in comparison.scenarios() {
        page.push_str(&scenario_head(scenario, style));
        let cells = comparison.cells(scenario);
        page.push_str(&rates::table(&cells, &invariants, name, style));
        page.push_str(&parts::differences(&against, scenario, columns));
        page.push_str(&measures::table(&cells, name, style));
    }
    page.push_str(&comparison.since.as_ref().map(|since| since.page(style)).unwrap_or_default());
    page.push('\n');
    for line in enumerated(&rates::legend(&invariants), columns) {
        page.push_str(&format!("{line}\n"));
    }
    for note in NOTES {
        page.push_str(&paragraph(note, 0, columns));
    }
    page
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
    page.push_str(&format!("\n{}\n\n", ranked_by(summary)));
    if let Some(since) = &comparison.since {
        let lines: String = since.lines().iter().map(|line| format!("- {}\n", escape(line))).collect();
        page.push_str(&format!("## Since the baseline\n\n{lines}\n"));
    }
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
