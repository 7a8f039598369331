//! A run as a log with vector clocks, which ShiViz draws as a space-time diagram.
//!
//! The first line is the expression by which the log is taken apart, the second the delimiter of executions, of which there is one. Each
//! event counts at its host, and an arrival knows what its sender knew. Source: <https://bestchai.bitbucket.io/shiviz/>.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use picklock_campaign::story::Story;
use picklock_model::ids::{EventId, HostId};
use picklock_model::trace::{Event, What};

use crate::format::{Format, ReportError};
use crate::page::layout::printable;
use crate::page::paint::Style;
use crate::story::words::Names;

pub(super) const FORMAT: Format<Story> = Format {
    name: "shiviz",
    file: "shiviz.log",
    doc: "every event with its vector clock; for ShiViz",
    render,
};

/// How an event is written, on two lines.
const EXPRESSION: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

type Clock = BTreeMap<HostId, u64>;

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    let trace = &story.trace;
    let names = Names::of(trace);
    let mut page = format!("{EXPRESSION}\n\n");
    let mut clocks: BTreeMap<HostId, Clock> = BTreeMap::new();
    // The clock of a sender when it sent.
    let mut sent: BTreeMap<EventId, Clock> = BTreeMap::new();
    for event in &trace.events {
        let clock = clocks.entry(event.host).or_default();
        for (host, known) in arrived(event, &sent).into_iter().flatten() {
            let mine = clock.entry(*host).or_default();
            *mine = (*mine).max(*known);
        }
        *clock.entry(event.host).or_default() += 1;
        if matches!(event.what, What::Sent { .. }) {
            sent.insert(event.id, clock.clone());
        }
        let shown: BTreeMap<&str, u64> =
            clock.iter().map(|(host, count)| (trace.host_name(*host), *count)).collect();
        let said = format!("{} {}", event.at, names.say(event));
        let _ = writeln!(
            page,
            "{} {}\n{}",
            trace.host_name(event.host),
            serde_json::to_string(&shown)?,
            printable(&said)
        );
    }
    Ok(page)
}

/// The clock that came with a message that arrives.
fn arrived<'a>(event: &Event, sent: &'a BTreeMap<EventId, Clock>) -> Option<&'a Clock> {
    if !matches!(event.what, What::Delivered { .. }) {
        return None;
    }
    sent.get(&event.cause?)
}
