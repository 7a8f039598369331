//! A comparison as Markdown.

use super::comparison::Comparison;
use super::measures::further;
use super::parts::{NOTES, ranked_by};
use super::ranking::ranking;
use super::{differences, rates};
use crate::format::{Format, ReportError};
use crate::matrix::measures::{MEASURES, measures};
use crate::matrix::verdict;
use crate::page::layout::titled;
use crate::page::markdown::{Table, block, code, escape};
use crate::page::paint::Style;

/// A comparison as tables in Markdown.
pub(crate) const FORMAT: Format<Comparison> =
    Format { name: "markdown", file: "comparison.md", doc: "the same as Markdown tables", render };

fn render(comparison: &Comparison, _style: &Style) -> Result<String, ReportError> {
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
            code(&titled(ranked.design)),
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
            let row =
                std::iter::once(code(&titled(&cell.design))).chain(rates).chain(measures(&cell.metrics));
            table.row(row.chain([further.join("<br>")]));
        }
        page.push_str(&format!("## {}\n\n{}\n", escape(scenario), table.text));
        let here = differences.iter().filter(|comparison| comparison.scenario == scenario);
        let lines: Vec<String> =
            here.map(|comparison| format!("- {}\n", escape(&comparison.words().join(", ")))).collect();
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
