//! The same results laid out as a comparison: for each scenario a table of designs with the rate of violations and
//! its interval, availability, acquire latency and messages per acquire, and below them what else was measured.
//!
//! Designs are compared on paired seeds: each ran the same ones, so the same workload and the same faults. Rates are
//! per run that exercised the scenario; intervals are Wilson's at 95%, and zero violations are stated as a bound.

use std::time::Duration;

use picklock_scenarios::summary::{Cell, Metrics, Summary};
use serde::Serialize;

use crate::format::{Format, ReportError};
use crate::json::MetricsJson;
use crate::layout::{left, paragraph, printable, right, spaces, width, wrap};
use crate::markdown::{Table, block, code, escape};
use crate::paint::{Ink, Style};
use crate::verdict::{self, Mark};
use crate::{numbers, text};

/// The formats of a comparison, the one for people first.
pub const ALL: &[Format] = &[
    Format {
        name: "text",
        file: "comparison.txt",
        doc: "a table of designs for each scenario",
        render: page,
    },
    Format { name: "json", file: "comparison.json", doc: "the same as one JSON object", render: json },
    Format { name: "markdown", file: "comparison.md", doc: "the same as Markdown tables", render: markdown },
];

/// The format of a comparison with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}

const MEASURES: [&str; 4] = ["available", "p50", "p99", "messages"];
/// A longer design name stands on a line of its own.
const NAME_COLUMNS: usize = 24;
/// Fewer columns than this are too few for the rates: they go below their line.
const RATE_COLUMNS: usize = 38;
const NOTES: [&str; 4] = [
    "rates are per run that exercised the scenario, with Wilson's interval at 95%",
    "available: share of the time in which the lock was wanted and somebody held it; \
     p50, p99: latency of successful acquires; messages: client to store, per successful acquire",
    "renewals a second of simulated time, and the most within 10 ms of one run; overlap: time with two holders in an \
     hour of simulated time; passed by: the most that one waiter saw somebody served who had asked later; \
     a dead holder: how long the others waited for its lease",
    "clean means that none was found in so many runs, and no more than that",
];

fn page(summary: &Summary, style: &Style) -> Result<String, ReportError> {
    let columns = style.columns();
    let mut page = format!("{}\n", style.paint(Ink::Head, &printable(&summary.command)));
    page.push_str(&paragraph(&pairing(summary), 0, columns));
    let name = name_columns(summary, columns);
    for scenario in text::distinct(summary.cells.iter().map(|cell| cell.scenario.as_str())) {
        page.push('\n');
        for line in wrap(&printable(scenario), columns) {
            page.push_str(&format!("{}\n", style.paint(Ink::Head, &line)));
        }
        page.push_str(&style.paint(Ink::Dim, &head(name, columns)));
        page.push('\n');
        for cell in summary.cells.iter().filter(|cell| cell.scenario == scenario) {
            row(&mut page, cell, name, style);
        }
    }
    page.push('\n');
    for note in NOTES {
        page.push_str(&paragraph(note, 0, columns));
    }
    Ok(page)
}

/// The width of the column of designs; 0 if there is no room for one, and each stands on a line of its own.
fn name_columns(summary: &Summary, columns: usize) -> usize {
    let names = summary.cells.iter().map(|cell| width(&printable(&cell.design)));
    let name = names.filter(|name| *name <= NAME_COLUMNS).max().unwrap_or(0).max("design".len());
    if measured(name) <= columns { name } else { 0 }
}

/// The columns that a line takes up to its last measure.
fn measured(name: usize) -> usize {
    2 + name + MEASURES.iter().map(|measure| 2 + measure_columns(measure)).sum::<usize>()
}

/// Where the rates begin, if they stand beside the measures.
fn beside(name: usize, columns: usize) -> Option<usize> {
    let used = measured(name) + 2;
    (used + RATE_COLUMNS <= columns).then_some(used)
}

fn measure_columns(measure: &str) -> usize {
    width(measure).max("12.5ms".len())
}

fn head(name: usize, columns: usize) -> String {
    let measures: String =
        MEASURES.iter().map(|measure| format!("  {}", right(measure, measure_columns(measure)))).collect();
    let line = format!("  {}{measures}", left(if name > 0 { "design" } else { "" }, name));
    match beside(name, columns) {
        Some(_) => format!("{line}  violated"),
        None => line,
    }
}

fn row(page: &mut String, cell: &Cell, name: usize, style: &Style) {
    let columns = style.columns();
    let design = printable(&cell.design);
    let label = if width(&design) > name {
        page.push_str(&paragraph(&design, 2, columns));
        ""
    } else {
        &*design
    };
    let measures: String = MEASURES
        .iter()
        .zip(measures(&cell.metrics))
        .map(|(measure, value)| format!("  {}", right(&value, measure_columns(measure))))
        .collect();
    let mut line = format!("  {}{measures}", left(label, name));
    let indent = beside(name, columns).unwrap_or(6);
    let ink = verdict::ink(cell);
    let mut rates: Vec<String> =
        rates(cell).iter().flat_map(|rate| wrap(&printable(rate), columns - indent)).collect();
    if beside(name, columns).is_some() && !rates.is_empty() {
        line.push_str(&format!("  {}", style.paint(ink, &rates.remove(0))));
    }
    page.push_str(&format!("{}\n", line.trim_end()));
    for rate in rates {
        page.push_str(&format!("{}{}\n", spaces(indent), style.paint(ink, &rate)));
    }
    for line in wrap(&further(&cell.metrics).join("; "), columns - 6) {
        if !line.is_empty() {
            page.push_str(&format!("{}{}\n", spaces(6), style.paint(Ink::Dim, &line)));
        }
    }
}

fn markdown(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    let mut page = format!(
        "# Comparison\n\n{}\n\nAll numbers are made again by\n\n{}\n",
        pairing(summary),
        block(&summary.command)
    );
    for scenario in text::distinct(summary.cells.iter().map(|cell| cell.scenario.as_str())) {
        let mut table = Table::new(["design", "violated"].into_iter().chain(MEASURES).chain(["further"]));
        for cell in summary.cells.iter().filter(|cell| cell.scenario == scenario) {
            let rates: Vec<String> = rates(cell).iter().map(|rate| escape(rate)).collect();
            let names = [code(&cell.design), rates.join("<br>")].into_iter();
            table.row(names.chain(measures(&cell.metrics)).chain([further(&cell.metrics).join("<br>")]));
        }
        page.push_str(&format!("## {}\n\n{}\n", escape(scenario), table.text));
    }
    for note in NOTES {
        page.push_str(&format!("- {note}\n"));
    }
    Ok(page)
}

fn json(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    let cells = summary.cells.iter().map(CellJson::of).collect();
    let page = Json {
        schema: summary.schema,
        command: &summary.command,
        partial: summary.partial,
        paired: paired(summary),
        cells,
    };
    Ok(serde_json::to_string_pretty(&page)? + "\n")
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    command: &'a str,
    partial: bool,
    paired: bool,
    cells: Vec<CellJson<'a>>,
}

#[derive(Serialize)]
struct CellJson<'a> {
    design: &'a str,
    scenario: &'a str,
    engine: &'a str,
    runs: u64,
    unknown: u64,
    exercised: u64,
    skipped: Option<&'a str>,
    rates: Vec<RateJson<'a>>,
    clean_below: Option<f64>,
    availability: Option<f64>,
    messages_per_acquire: Option<f64>,
    metrics: MetricsJson<'a>,
}

#[derive(Serialize)]
struct RateJson<'a> {
    invariant: &'a str,
    runs: u64,
    rate: f64,
    low: f64,
    high: f64,
}

impl<'a> CellJson<'a> {
    fn of(cell: &'a Cell) -> CellJson<'a> {
        let exercised = verdict::exercised(cell);
        let rates = cell.violations.iter().filter_map(|(invariant, violation)| {
            let (low, high) = numbers::wilson(violation.runs, exercised)?;
            let rate = violation.runs as f64 / exercised as f64;
            Some(RateJson { invariant, runs: violation.runs, rate, low, high })
        });
        CellJson {
            design: &cell.design,
            scenario: &cell.scenario,
            engine: &cell.engine,
            runs: cell.runs,
            unknown: cell.unknown,
            exercised,
            skipped: cell.skipped.as_deref(),
            rates: rates.collect(),
            clean_below: numbers::clean_bound(exercised).filter(|_| Mark::of(cell) == Mark::Holds),
            availability: availability(&cell.metrics),
            messages_per_acquire: messages_per_acquire(&cell.metrics),
            metrics: MetricsJson::of(&cell.metrics),
        }
    }
}

/// For each violated invariant its rate and interval; or what was found instead.
fn rates(cell: &Cell) -> Vec<String> {
    let exercised = verdict::exercised(cell);
    if Mark::of(cell) != Mark::Violated {
        return vec![verdict::found(cell)];
    }
    let rate = |(invariant, runs): (&String, u64)| match numbers::wilson(runs, exercised) {
        Some((low, high)) => {
            let rate = numbers::percent(runs as f64 / exercised as f64);
            format!("{invariant} {rate} [{}, {}]", numbers::percent(low), numbers::percent(high))
        }
        None => format!("{invariant} {runs}"),
    };
    cell.violations.iter().map(|(invariant, violation)| rate((invariant, violation.runs))).collect()
}

/// The measures of a cell, in the order of [`MEASURES`]; `-` for what was not measured.
fn measures(metrics: &Metrics) -> [String; 4] {
    let latency = |percent| metrics.latency.percentile(percent).map(numbers::span);
    let measures = [
        availability(metrics).map(numbers::percent),
        latency(50),
        latency(99),
        messages_per_acquire(metrics).map(|messages| format!("{messages:.1}")),
    ];
    measures.map(|measure| measure.unwrap_or_else(|| "-".to_owned()))
}

/// What else was measured, as far as it happened.
fn further(metrics: &Metrics) -> Vec<String> {
    let span = |ns| numbers::span(Duration::from_nanos(ns));
    let seconds = metrics.run_ns as f64 / 1e9;
    let mut further = Vec::new();
    if metrics.renewals > 0 && seconds > 0.0 {
        let rate = metrics.renewals as f64 / seconds;
        further.push(format!("{rate:.1} renewals a second, at most {} in 10 ms", metrics.renewal_peak));
    }
    if metrics.overlap_ns > 0 && metrics.run_ns > 0 {
        let ms_per_hour = metrics.overlap_ns as f64 * 3_600_000.0 / metrics.run_ns as f64;
        further.push(format!("overlap {ms_per_hour:.0} ms an hour"));
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

fn availability(metrics: &Metrics) -> Option<f64> {
    let Metrics { blocked_ns, wanted_ns, .. } = *metrics;
    (wanted_ns > 0).then(|| 1.0 - blocked_ns.min(wanted_ns) as f64 / wanted_ns as f64)
}

fn messages_per_acquire(metrics: &Metrics) -> Option<f64> {
    (metrics.granted > 0).then(|| metrics.acquire_messages as f64 / metrics.granted as f64)
}

/// Whether all designs made the same number of runs under each scenario, and so the same seeds.
fn paired(summary: &Summary) -> bool {
    let made = || summary.cells.iter().filter(|cell| cell.skipped.is_none());
    made().all(|cell| made().all(|other| other.scenario != cell.scenario || other.runs == cell.runs))
}

fn pairing(summary: &Summary) -> String {
    let partial = if summary.partial { "(partial: interrupted) " } else { "" };
    let words = if paired(summary) {
        "Paired seeds: under each scenario every design ran the same ones, so the same workload and faults."
    } else {
        "Not fully paired: under some scenario one design ran more seeds than another."
    };
    format!("{partial}{words}")
}
