//! A comparison as data. The schema is described in `docs/guide/json.md`.

use picklock_campaign::summary::Cell;
use serde::Serialize;

use super::comparison::Comparison;
use super::differences::{self, PairedComparison};
use super::ranking::{Protects, Ranked, ranking};
use super::since::Since;
use crate::format::{Format, ReportError};
use crate::formats::json::MetricsJson;
use crate::matrix::measures::{availability, messages_per_acquire};
use crate::matrix::statistics::{self, Difference};
use crate::matrix::verdict::{self, Mark};
use crate::page::paint::Style;

/// A comparison as data.
pub(crate) const FORMAT: Format<Comparison> =
    Format { name: "json", file: "comparison.json", doc: "the same as one JSON object", render };

fn render(comparison: &Comparison, _style: &Style) -> Result<String, ReportError> {
    let summary = &comparison.summary;
    let cells = summary.cells.iter().map(CellJson::of).collect();
    let ranking = ranking(summary);
    let page = Json {
        schema: summary.schema,
        command: &summary.command,
        partial: summary.partial,
        paired: comparison.is_paired(),
        ranking: ranking.iter().map(RankedJson::of).collect(),
        differences: differences::all(comparison).iter().flat_map(DifferenceJson::of).collect(),
        since: comparison.since.as_ref(),
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
    ranking: Vec<RankedJson<'a>>,
    differences: Vec<DifferenceJson<'a>>,
    since: Option<&'a Since>,
    cells: Vec<CellJson<'a>>,
}

#[derive(Serialize)]
struct RankedJson<'a> {
    design: &'a str,
    protects_data: Option<bool>,
    why: &'a str,
}

impl<'a> RankedJson<'a> {
    fn of(ranked: &'a Ranked<'a>) -> RankedJson<'a> {
        let protects_data = match ranked.protects {
            Protects::InTheseRuns => Some(true),
            Protects::No => Some(false),
            Protects::Untested => None,
        };
        RankedJson { design: ranked.design, protects_data, why: &ranked.why }
    }
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    scenario: &'a str,
    invariant: &'a str,
    design: &'a str,
    against: &'a str,
    seeds: u64,
    difference: f64,
    low: f64,
    high: f64,
}

impl<'a> DifferenceJson<'a> {
    fn of(comparison: &PairedComparison<'a>) -> Vec<DifferenceJson<'a>> {
        let PairedComparison { scenario, design, best, seeds, ref differences } = *comparison;
        let each = differences.iter().map(|(invariant, Difference { by, low, high })| DifferenceJson {
            scenario,
            invariant: invariant.name,
            design,
            against: best,
            seeds,
            difference: *by,
            low: *low,
            high: *high,
        });
        each.collect()
    }
}

#[derive(Serialize)]
struct CellJson<'a> {
    design: &'a str,
    scenario: &'a str,
    engine: &'a str,
    runs: u64,
    unknown: u64,
    conclusive: u64,
    skipped: Option<&'a str>,
    not_applicable: &'a [String],
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
        let conclusive = verdict::conclusive(cell);
        let rates = cell.violations.iter().filter_map(|(invariant, violation)| {
            let (low, high) = statistics::wilson(violation.runs, conclusive)?;
            let rate = violation.runs as f64 / conclusive as f64;
            Some(RateJson { invariant, runs: violation.runs, rate, low, high })
        });
        CellJson {
            design: &cell.design,
            scenario: &cell.scenario,
            engine: &cell.engine,
            runs: cell.runs,
            unknown: cell.unknown,
            conclusive,
            skipped: cell.skipped.as_deref(),
            not_applicable: &cell.not_applicable,
            rates: rates.collect(),
            clean_below: statistics::clean_bound(conclusive).filter(|_| Mark::of(cell) == Mark::Holds),
            availability: availability(&cell.metrics),
            messages_per_acquire: messages_per_acquire(&cell.metrics),
            metrics: MetricsJson::of(&cell.metrics),
        }
    }
}
