//! A comparison for a terminal: the whole page, or one screen.

use std::path::Path;

use super::comparison::Comparison;
use super::parts::{NOTES, head, places, scenario_head};
use super::ranking::ranking;
use super::screen::LINES;
use super::{differences, measures, parts, rates};
use crate::format::{Format, ReportError};
use crate::page::layout::{enumerated, paragraph};
use crate::page::paint::Style;

/// A comparison for a terminal.
pub(crate) const FORMAT: Format<Comparison> = Format {
    name: "text",
    file: "comparison.txt",
    doc: "a ranking, and a table of designs for each scenario",
    render,
};

fn render(comparison: &Comparison, style: &Style) -> Result<String, ReportError> {
    Ok(whole(comparison, style))
}

/// A comparison on one screen; the whole page where that fits. `out` is the directory that everything was written to, if any.
#[must_use]
pub fn screen(comparison: &Comparison, style: &Style, out: Option<&Path>) -> String {
    let whole = whole(comparison, style);
    if whole.lines().count() <= LINES { whole } else { super::screen::page(comparison, style, out) }
}

fn whole(comparison: &Comparison, style: &Style) -> String {
    let summary = &comparison.summary;
    let columns = style.columns();
    let mut page = head(comparison, style);
    page.push_str(&places(summary, &ranking(summary), style).concat());
    let name = measures::name_columns(summary, columns);
    let invariants = rates::columns(summary);
    let differences = differences::all(comparison);
    for scenario in comparison.scenarios() {
        page.push_str(&scenario_head(scenario, style));
        let cells = comparison.cells(scenario);
        page.push_str(&rates::table(&cells, &invariants, name, style));
        page.push_str(&parts::differences(&differences, scenario, columns));
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
