//! A run as JSON. The schema is described in `docs/guide/json.md`; hosts are given by name, never by number.

use std::collections::BTreeMap;

use picklock_campaign::summary::SCHEMA;
use picklock_judge::outcome::Finding;
use picklock_model::ids::GrantId;
use picklock_model::seed::Seed;
use picklock_model::time::nanos;
use picklock_model::trace::{Event, Trace, What};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::Value;

use crate::format::ReportError;

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
    /// The events.
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
                "peer" => object.serialize_entry("peer", &self.host(value))?,
                "hosts" | "others" => object.serialize_entry(name, &self.hosts(value))?,
                // Instants say their unit here as everywhere else in JSON.
                "until" | "deadline" => object.serialize_entry(&format!("{name}_ns"), value)?,
                _ => object.serialize_entry(name, value)?,
            }
        }
        if let What::Injected { applied, .. } = what {
            object.serialize_entry("text", &self.names.0.words(applied))?;
        }
        object.end()
    }
}

impl EventJson<'_> {
    /// The names of the hosts whose numbers these are.
    fn hosts(&self, numbers: &Value) -> Vec<Option<&str>> {
        numbers.as_array().into_iter().flatten().map(|number| self.host(number)).collect()
    }

    /// The name of the host whose number this is.
    fn host(&self, number: &Value) -> Option<&str> {
        let index = usize::try_from(number.as_u64()?).ok()?;
        self.names.0.hosts.get(index).map(|host| host.name.as_str())
    }
}
