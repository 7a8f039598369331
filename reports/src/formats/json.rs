//! Results and runs as JSON. The schema is described in `docs/guide/json.md`.
//!
//! Every field is always there: what does not apply is `null`, so that scripts need not ask. Fields may be added
//! within a version of the schema; none is renamed or removed. Hosts are given by name, never by number.

use std::collections::BTreeMap;

use picklock_campaign::summary::{
    Cell, Confirmed, Exhausted, Expected, SCHEMA, SeenWith, Summary, Violation,
};
use picklock_judge::metrics::{Latencies, Metrics};
use picklock_judge::outcome::Finding;
use picklock_model::ids::GrantId;
use picklock_model::seed::Seed;
use picklock_model::time::nanos;
use picklock_model::trace::{Event, Trace};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::Value;

use crate::format::{Format, ReportError};
use crate::page::paint::Style;

/// Results as data.
pub const FORMAT: Format =
    Format { name: "json", file: "results.json", doc: "everything, as one JSON object; for scripts", render };

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    // What the names mean is said by `picklock list --json`.
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
    decided: u64,
    skipped: Option<&'a str>,
    not_applicable: &'a [String],
    violations: BTreeMap<&'a str, ViolationJson<'a>>,
    bit: &'a BTreeMap<String, u64>,
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
            decided,
            skipped,
            not_applicable,
            violations,
            bit,
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
            decided: *decided,
            skipped: skipped.as_deref(),
            not_applicable,
            violations: violations.iter().map(|(name, it)| (name.as_str(), ViolationJson::of(it))).collect(),
            bit,
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
    capsule: Option<String>,
    confirmed: Option<Confirmed>,
    real: Option<&'a SeenWith>,
}

impl<'a> ViolationJson<'a> {
    fn of(violation: &'a Violation) -> ViolationJson<'a> {
        let Violation { runs, first_seed, replay, capsule, confirmed, real, story: _ } = violation;
        // A path that is not Unicode has no place in JSON; its nearest spelling is better than no report at all.
        let capsule = capsule.as_ref().map(|path| path.to_string_lossy().into_owned());
        let (runs, first_seed, confirmed) = (*runs, *first_seed, *confirmed);
        ViolationJson { runs, first_seed, replay, capsule, confirmed, real: real.as_ref() }
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
        }
    }
}

/// One run, as `replay` shows it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The design's spelling.
    pub design: &'a str,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed of the run.
    pub seed: Seed,
    /// The engine's name.
    pub engine: &'a str,
    /// What happened.
    pub trace: &'a Trace,
    /// The breaches found, by the name of the invariant; an invariant that holds is absent.
    pub violations: &'a BTreeMap<String, Vec<Finding>>,
}

/// A run as one JSON object, with one line for each event so that two runs can be compared by line.
///
/// # Errors
/// When the run does not go into JSON.
pub fn run_json(run: &Run<'_>) -> Result<String, ReportError> {
    let names = Names(run.trace);
    let findings = run.violations.iter().flat_map(|(invariant, findings)| {
        findings.iter().map(move |finding| FindingJson::of(invariant, finding, names))
    });
    let fields = [
        ("schema", serde_json::to_string(&SCHEMA)?),
        ("design", serde_json::to_string(run.design)?),
        ("scenario", serde_json::to_string(run.scenario)?),
        ("seed", serde_json::to_string(&run.seed)?),
        ("engine", serde_json::to_string(run.engine)?),
        ("digest", serde_json::to_string(&run.trace.digest)?),
        ("violations", serde_json::to_string(&run.violations.keys().collect::<Vec<_>>())?),
        ("findings", lines(findings)?),
        ("hosts", lines(run.trace.hosts.iter())?),
        ("events", lines(run.trace.events.iter().map(|event| EventJson { event, names }))?),
    ];
    let fields: Vec<String> =
        fields.into_iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    Ok(format!("{{\n{}\n}}\n", fields.join(",\n")))
}

/// A JSON list with one line for each element.
fn lines(elements: impl Iterator<Item = impl Serialize>) -> Result<String, ReportError> {
    let lines: Vec<String> = elements
        .map(|element| Ok(format!("    {}", serde_json::to_string(&element)?)))
        .collect::<Result<_, ReportError>>()?;
    Ok(if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", lines.join(",\n")) })
}

/// Gives hosts their names.
#[derive(Clone, Copy)]
struct Names<'a>(&'a Trace);

impl<'a> Names<'a> {
    fn grant(self, grant: GrantId) -> GrantJson<'a> {
        GrantJson { client: self.0.host_name(grant.client), section: grant.section }
    }
}

#[derive(Serialize)]
struct GrantJson<'a> {
    client: &'a str,
    section: u32,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    invariant: &'a str,
    text: &'a str,
    grants: Vec<GrantJson<'a>>,
    events: Vec<u32>,
    width_ns: Option<u64>,
}

impl<'a> FindingJson<'a> {
    fn of(invariant: &'a str, finding: &'a Finding, names: Names<'a>) -> FindingJson<'a> {
        let Finding { text, grants, events, width } = finding;
        FindingJson {
            invariant,
            text,
            grants: grants.iter().map(|grant| names.grant(*grant)).collect(),
            events: events.iter().map(|id| id.0).collect(),
            width_ns: width.map(nanos),
        }
    }
}

/// An event as one flat object: where and when, and then what it is with the fields of its kind.
struct EventJson<'a> {
    event: &'a Event,
    names: Names<'a>,
}

impl Serialize for EventJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Event { at, id, host, cause, conn, grant, what } = self.event;
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("at_ns", at)?;
        object.serialize_entry("id", id)?;
        object.serialize_entry("host", self.names.0.host_name(*host))?;
        object.serialize_entry("cause", cause)?;
        object.serialize_entry("conn", conn)?;
        object.serialize_entry("grant", &grant.map(|grant| self.names.grant(grant)))?;
        let mut fields = match serde_json::to_value(what).map_err(serde::ser::Error::custom)? {
            Value::Object(fields) => fields,
            other => [("what".to_owned(), other)].into_iter().collect(),
        };
        object.serialize_entry("what", &fields.remove("what"))?;
        for (name, value) in &fields {
            match name.as_str() {
                "peer" => object.serialize_entry("peer", &self.peer(value))?,
                // Instants say their unit here as everywhere else in JSON.
                "until" | "deadline" => object.serialize_entry(&format!("{name}_ns"), value)?,
                _ => object.serialize_entry(name, value)?,
            }
        }
        object.end()
    }
}

impl EventJson<'_> {
    /// The name of the host whose number this is.
    fn peer(&self, number: &Value) -> Option<&str> {
        let index = usize::try_from(number.as_u64()?).ok()?;
        self.names.0.hosts.get(index).map(|host| host.name.as_str())
    }
}
