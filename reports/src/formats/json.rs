//! Results as JSON. The schema is described in `docs/guide/json.md`.
//!
//! Every field is always there: what does not apply is `null`, so that scripts need not ask. Fields may be added
//! within a version of the schema; none is renamed or removed.

use std::collections::BTreeMap;

use picklock_campaign::summary::{
    Cell, Confirmed, Exhausted, Expected, Judged, SeenWith, Summary, Violation,
};
use picklock_judge::metrics::{Latencies, Metrics};
use picklock_model::time::nanos;
use serde::Serialize;

use crate::format::{Format, ReportError};
use crate::page::paint::Style;

/// Results as data.
pub const FORMAT: Format =
    Format { name: "json", file: "results.json", doc: "everything, as one JSON object; for scripts", render };

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    // The meanings of the names are in `picklock list --json`.
    let Summary { schema, command, partial, cells, about: _ } = summary;
    let cells = cells.iter().map(CellJson::of).collect();
    let page = SummaryJson { schema: *schema, command, partial: *partial, cells };
    Ok(serde_json::to_string_pretty(&page)? + "\n")
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    schema: u32,
    command: &'a str,
    partial: bool,
    cells: Vec<CellJson<'a>>,
}

#[derive(Serialize)]
struct CellJson<'a> {
    design: &'a str,
    scenario: &'a str,
    engine: &'a str,
    runs: u64,
    unknown: u64,
    hit_lock: u64,
    skipped: Option<&'a str>,
    longer_lease_ns: Option<u64>,
    not_applicable: &'a [String],
    invariants: &'a BTreeMap<String, Judged>,
    violations: BTreeMap<&'a str, ViolationJson<'a>>,
    took_effect: &'a BTreeMap<String, u64>,
    not_modelled: &'a BTreeMap<String, u64>,
    exhausted: &'a [Exhausted],
    expected: Option<&'a Expected>,
    met: Option<bool>,
    unmet_because: Option<&'a str>,
    metrics: MetricsJson<'a>,
}

impl<'a> CellJson<'a> {
    fn of(cell: &'a Cell) -> CellJson<'a> {
        // Taken apart in full, here and below, so that a new field is not forgotten.
        let Cell {
            design,
            scenario,
            engine,
            runs,
            unknown,
            hit_lock,
            skipped,
            longer_lease_ns,
            not_applicable,
            invariants,
            violations,
            took_effect,
            not_modelled,
            exhausted,
            expected,
            met,
            unmet_because,
            metrics,
        } = cell;
        CellJson {
            design,
            scenario,
            engine,
            runs: *runs,
            unknown: *unknown,
            hit_lock: *hit_lock,
            skipped: skipped.as_deref(),
            longer_lease_ns: *longer_lease_ns,
            not_applicable,
            invariants,
            violations: violations.iter().map(|(name, it)| (name.as_str(), ViolationJson::of(it))).collect(),
            took_effect,
            not_modelled,
            exhausted,
            expected: expected.as_ref(),
            met: *met,
            unmet_because: unmet_because.as_deref(),
            metrics: MetricsJson::of(metrics),
        }
    }
}

#[derive(Serialize)]
struct ViolationJson<'a> {
    runs: u64,
    first_seed: u64,
    replay: &'a str,
    repro: Option<String>,
    confirmed: Option<Confirmed>,
    real: Option<&'a SeenWith>,
}

impl<'a> ViolationJson<'a> {
    fn of(violation: &'a Violation) -> ViolationJson<'a> {
        let Violation { runs, first_seed, replay, repro, confirmed, real, story: _ } = violation;
        // A path that is not Unicode has no place in JSON; its nearest spelling is better than no report at all.
        let repro = repro.as_ref().map(|path| path.to_string_lossy().into_owned());
        let (runs, first_seed, confirmed) = (*runs, *first_seed, *confirmed);
        ViolationJson { runs, first_seed, replay, repro, confirmed, real: real.as_ref() }
    }
}

/// The measures of a cell, with the percentiles that most readers want.
#[derive(Serialize)]
pub(crate) struct MetricsJson<'a> {
    asked: u64,
    granted: u64,
    contended: u64,
    acquire_messages: u64,
    blocked_ns: u64,
    wanted_ns: u64,
    latency: LatencyJson<'a>,
    run_ns: u64,
    overlap_ns: u64,
    overlap_widest_ns: u64,
    overlap_window_ns: u64,
    overlap_fault_ns: u64,
    renewals: u64,
    renewal_peak: u64,
    retries: u64,
    bypasses: u64,
    bypass_peak: u64,
    holders_died: u64,
    wasted_ns: u64,
    loss_notice: LatencyJson<'a>,
    losses_unnoticed: u64,
    promotions: u64,
    promotions_lacking: u64,
    halted_holders: u64,
    takeovers: u64,
}

#[derive(Serialize)]
struct LatencyJson<'a> {
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    counts: &'a BTreeMap<u32, u64>,
}

impl<'a> LatencyJson<'a> {
    fn of(latency: &'a Latencies) -> LatencyJson<'a> {
        let Latencies { counts } = latency;
        let percentile = |percent| latency.percentile(percent).map(nanos);
        LatencyJson { p50_ns: percentile(50), p99_ns: percentile(99), counts }
    }
}

impl<'a> MetricsJson<'a> {
    pub(crate) fn of(metrics: &'a Metrics) -> MetricsJson<'a> {
        let Metrics {
            asked,
            granted,
            contended,
            acquire_messages,
            blocked_ns,
            wanted_ns,
            latency,
            run_ns,
            overlap_ns,
            overlap_widest_ns,
            overlap_window_ns,
            overlap_fault_ns,
            renewals,
            renewal_peak,
            retries,
            bypasses,
            bypass_peak,
            holders_died,
            wasted_ns,
            loss_notice,
            losses_unnoticed,
            promotions,
            promotions_lacking,
            halted_holders,
            takeovers,
        } = metrics;
        MetricsJson {
            asked: *asked,
            granted: *granted,
            contended: *contended,
            acquire_messages: *acquire_messages,
            blocked_ns: *blocked_ns,
            wanted_ns: *wanted_ns,
            latency: LatencyJson::of(latency),
            run_ns: *run_ns,
            overlap_ns: *overlap_ns,
            overlap_widest_ns: *overlap_widest_ns,
            overlap_window_ns: *overlap_window_ns,
            overlap_fault_ns: *overlap_fault_ns,
            renewals: *renewals,
            renewal_peak: *renewal_peak,
            retries: *retries,
            bypasses: *bypasses,
            bypass_peak: *bypass_peak,
            holders_died: *holders_died,
            wasted_ns: *wasted_ns,
            loss_notice: LatencyJson::of(loss_notice),
            losses_unnoticed: *losses_unnoticed,
            promotions: *promotions,
            promotions_lacking: *promotions_lacking,
            halted_holders: *halted_holders,
            takeovers: *takeovers,
        }
    }
}
