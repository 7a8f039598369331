//! The measures of a design under a scenario, beside its verdicts.

use std::time::Duration;

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::metrics::Metrics;

use crate::matrix::measures::{MEASURES, measures};
use crate::matrix::verdict;
use crate::page::layout::{left, paragraph, right, spaces, titled, width, wrap};
use crate::page::numbers;
use crate::page::paint::{Ink, Style};

/// A longer design name stands on a line of its own.
const NAME_COLUMNS: usize = 24;

/// The width of the column of designs; 0 if there is no room for one, and each stands on a line of its own.
pub(crate) fn name_columns(summary: &Summary, page: usize) -> usize {
    let names = summary.cells.iter().map(|cell| width(&titled(&cell.design)));
    let name = names.filter(|name| *name <= NAME_COLUMNS).max().unwrap_or(0).max("design".len());
    if columns(name) <= page { name } else { 0 }
}

/// The table of one scenario.
pub(crate) fn table(cells: &[&Cell], name: usize, style: &Style) -> String {
    let heads: String =
        MEASURES.iter().map(|measure| format!("  {}", right(measure, measure_columns(measure)))).collect();
    let head = format!("  {}{heads}", left(if name > 0 { "design" } else { "" }, name));
    let mut page = format!("{}\n", style.paint(Ink::Dim, &head));
    for cell in cells.iter().filter(|cell| cell.skipped.is_none()) {
        row(&mut page, cell, name, style);
    }
    page
}

/// The beginning of a design's line: its name, which stands on a line of its own if it is too long.
pub(crate) fn label(page: &mut String, cell: &Cell, name: usize, style: &Style) -> String {
    let design = titled(&cell.design);
    if width(&design) <= name {
        return left(&design, name);
    }
    page.push_str(&paragraph(&design, 2, style.columns()));
    spaces(name)
}

/// The columns that a line takes up to its last measure.
fn columns(name: usize) -> usize {
    2 + name + MEASURES.iter().map(|measure| 2 + measure_columns(measure)).sum::<usize>()
}

fn measure_columns(measure: &str) -> usize {
    width(measure).max("12.5ms".len())
}

fn row(page: &mut String, cell: &Cell, name: usize, style: &Style) {
    let label = label(page, cell, name, style);
    let measures: String = MEASURES
        .iter()
        .zip(measures(&cell.metrics))
        .map(|(measure, value)| format!("  {}", right(&value, measure_columns(measure))))
        .collect();
    page.push_str(&format!("{}\n", format!("  {}{measures}", label).trim_end()));
    for line in wrap(&further(&cell.metrics).join("; "), style.columns() - 6) {
        if !line.is_empty() {
            page.push_str(&format!("{}{}\n", spaces(6), style.paint(Ink::Dim, &line)));
        }
    }
}

/// The other measures, as far as there is something to measure.
pub(crate) fn further(metrics: &Metrics) -> Vec<String> {
    let span = |ns| numbers::span(Duration::from_nanos(ns));
    let seconds = metrics.run_ns as f64 / 1e9;
    let mut further = Vec::new();
    if metrics.renewals > 0 && seconds > 0.0 {
        let rate = metrics.renewals as f64 / seconds;
        further.push(format!("{rate:.1} renewals a second, at most {} in 10 ms", metrics.renewal_peak));
    }
    if metrics.overlap_ns > 0 && metrics.wanted_ns > 0 {
        let share = numbers::percent(metrics.overlap_ns as f64 / metrics.wanted_ns as f64);
        further.push(format!(
            "too many holders {share} of the time, for up to {}",
            span(metrics.overlap_widest_ns)
        ));
    }
    let retries = verdict::retries(metrics);
    if !retries.is_empty() {
        further.push(retries);
    }
    if metrics.bypass_peak > 0 {
        further.push(format!("passed by up to {} times", metrics.bypass_peak));
    }
    if let Some(each) = metrics.wasted_ns.checked_div(metrics.holders_died).filter(|each| *each > 0) {
        further.push(format!("a dead holder cost {}", span(each)));
    }
    if let Some(median) = metrics.loss_notice.percentile(50) {
        further.push(format!("a loss was noticed after {}, median", numbers::span(median)));
    }
    if metrics.losses_unnoticed > 0 {
        further.push(format!("{} losses were never noticed", metrics.losses_unnoticed));
    }
    further
}
