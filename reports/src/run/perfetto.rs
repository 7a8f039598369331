//! A run as a trace of the browser's kind, which <https://ui.perfetto.dev> and `chrome://tracing` show.
//!
//! A host is a process. What its client was in the middle of is a span on a track of its own kind, everything that happened an
//! instant, and a message a flow from its sending to its arrival. Source: the Trace Event Format of Chromium.

use std::collections::BTreeMap;

use picklock_campaign::story::Story;
use picklock_model::ids::{EventId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};
use serde_json::{Value, json};

use crate::format::{Format, ReportError};
use crate::page::paint::Style;
use crate::story::spans::{self, State};
use crate::story::words::Names;

pub(super) const FORMAT: Format<Story> = Format {
    name: "perfetto",
    file: "trace.json",
    doc: "spans, events and messages in Chrome's trace format; for ui.perfetto.dev",
    render,
};

/// The tracks of a host.
const TRACKS: [(u32, &str); 4] = [(1, "asks"), (2, "holds"), (3, "stands still"), (4, "events")];

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    let trace = &story.trace;
    let names = Names::of(trace);
    let mut lines = Vec::new();
    for (host, info) in trace.hosts.iter().enumerate() {
        lines.push(json!({ "ph": "M", "name": "process_name", "pid": host, "tid": 0, "args": { "name": info.name } }));
        for (track, name) in TRACKS {
            lines.push(json!({ "ph": "M", "name": "thread_name", "pid": host, "tid": track, "args": { "name": name } }));
        }
    }
    for span in spans::of(trace) {
        let (track, name) = TRACKS[match span.state {
            State::Waiting => 0,
            State::Believing => 1,
            State::Halted => 2,
        }];
        let begun = &trace.events[span.first];
        let whose = span.grant.map(|grant| names.grant(grant));
        lines.push(json!({
            "ph": "X", "cat": "span", "name": name, "pid": span.client.0, "tid": track,
            "ts": micros(begun.at), "dur": micros(span.end(trace)) - micros(begun.at),
            "args": { "grant": whose, "from": names.say(begun) },
        }));
    }
    let sent: BTreeMap<EventId, HostId> = trace
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Delivered { .. }))
        .filter_map(|event| Some((event.cause?, event.host)))
        .collect();
    for event in &trace.events {
        lines.push(slice(event, &names));
        lines.extend(flow(event, &sent));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    Ok(format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n")))
}

/// The format counts in microseconds.
fn micros(at: TrueTime) -> f64 {
    at.0 as f64 / 1_000.0
}

/// A flow is fastened to slices, so that an event is one, though it takes no time.
fn slice(event: &Event, names: &Names<'_>) -> Value {
    let what = serde_json::to_value(&event.what).ok();
    let kind = what.and_then(|what| Some(what.get("what")?.as_str()?.to_owned()));
    json!({
        "ph": "X", "cat": "event", "name": kind, "pid": event.host.0, "tid": 4, "ts": micros(event.at), "dur": 0.0,
        "args": { "says": names.say(event), "id": event.id, "grant": event.grant.map(|grant| names.grant(grant)) },
    })
}

/// The end of a flow that lies at an event.
fn flow(event: &Event, sent: &BTreeMap<EventId, HostId>) -> Option<Value> {
    let (ph, id) = match event.what {
        What::Sent { .. } if sent.contains_key(&event.id) => ("s", event.id),
        What::Delivered { .. } => ("f", event.cause?),
        _ => return None,
    };
    let mut flow = json!({
        "ph": ph, "cat": "message", "name": "message", "id": id, "pid": event.host.0, "tid": 4, "ts": micros(event.at),
    });
    if ph == "f" {
        flow["bp"] = "e".into();
    }
    Some(flow)
}
