//! Results as a table of comma-separated values: a line for each cell, for spreadsheets and notebooks.
//!
//! The columns are always the same, so that tables of different runs can be put below each other: an invariant that was not violated
//! has 0 runs, one that does not apply to the design none. The sign is that of every other page. Source: RFC 4180.

use std::time::Duration;

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::invariants;
use picklock_model::time::nanos;

use crate::format::{Format, ReportError};
use crate::matrix::mark::Mark;
use crate::page::layout::printable;
use crate::page::paint::Style;

/// Results as a table.
pub const FORMAT: Format = Format {
    name: "csv",
    file: "results.csv",
    doc: "a line for each design and scenario, comma-separated; for spreadsheets",
    render,
};

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    let mut page = line(columns());
    for cell in &summary.cells {
        page.push_str(&line(values(cell)));
    }
    Ok(page)
}

fn columns() -> Vec<String> {
    let before = ["design", "scenario", "engine", "runs", "unknown", "hit_lock", "skipped", "met"];
    let after = [
        "asked",
        "granted",
        "acquire_messages",
        "acquire_p50_ns",
        "acquire_p99_ns",
        "blocked_ns",
        "wanted_ns",
        "overlap_widest_ns",
        "sign",
    ];
    let of_invariants = invariants::ALL.iter().map(|invariant| invariant.name.replace('-', "_"));
    let mut columns: Vec<String> = before.map(str::to_owned).to_vec();
    columns.extend(of_invariants);
    columns.extend(after.map(str::to_owned));
    columns
}

fn values(cell: &Cell) -> Vec<String> {
    let metrics = &cell.metrics;
    let percentile = |percent| {
        let span: Option<Duration> = metrics.latency.percentile(percent);
        span.map(|span| nanos(span).to_string()).unwrap_or_default()
    };
    let mut values = vec![
        printable(&cell.design).into_owned(),
        printable(&cell.scenario).into_owned(),
        cell.engine.clone(),
        cell.runs.to_string(),
        cell.unknown.to_string(),
        cell.hit_lock.to_string(),
        cell.skipped.as_deref().map(|why| printable(why).into_owned()).unwrap_or_default(),
        cell.met.map(|met| met.to_string()).unwrap_or_default(),
    ];
    values.extend(invariants::ALL.iter().map(|invariant| violating(cell, invariant.name)));
    values.extend([
        metrics.asked.to_string(),
        metrics.granted.to_string(),
        metrics.acquire_messages.to_string(),
        percentile(50),
        percentile(99),
        metrics.blocked_ns.to_string(),
        metrics.wanted_ns.to_string(),
        metrics.overlap_widest_ns.to_string(),
        Mark::of(cell).sign().to_owned(),
    ]);
    values
}

/// In how many runs it was violated; nothing if it does not apply to the design.
fn violating(cell: &Cell, invariant: &str) -> String {
    match cell.violations.get(invariant) {
        Some(violation) => violation.runs.to_string(),
        None if cell.runs == 0 || cell.not_applicable.iter().any(|name| name == invariant) => String::new(),
        None => "0".to_owned(),
    }
}

fn line(values: Vec<String>) -> String {
    values.iter().map(|value| field(value)).collect::<Vec<_>>().join(",") + "\r\n"
}

fn field(value: &str) -> String {
    if value.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
