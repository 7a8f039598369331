//! The bars along the lines of the hosts, for all that lasts: asking, believing, standing still, a lease on a store, a clock that
//! is off.

use std::collections::BTreeMap;

use picklock_model::ids::{GrantId, HostId, Key};
use picklock_model::trace::What;

use super::course::Course;
use super::short::offset;
use crate::story::spans::State;

/// A bar in the diagram.
pub(crate) struct Bar {
    pub(crate) host: HostId,
    pub(crate) lasting: Lasting,
    pub(crate) grant: Option<GrantId>,
    /// Positions of its first and last event; the last event of the run if it is still open.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The text in it.
    pub(crate) label: Option<String>,
}

/// The state that a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    Waiting,
    Believing,
    Halted,
    Lease,
    ClockError,
}

impl Lasting {
    /// Its class in a drawing.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Lasting::Waiting => "ask",
            Lasting::Believing => "own",
            Lasting::Halted => "halt",
            Lasting::Lease => "lease",
            Lasting::ClockError => "clock",
        }
    }
}

/// The bars of the drawn hosts, back to front.
pub(crate) fn of(course: &Course<'_>) -> Vec<Bar> {
    let end = course.story.trace.events.len().saturating_sub(1);
    let mut bars: Vec<Bar> = course
        .spans
        .iter()
        .map(|span| {
            let lasting = match span.state {
                State::Waiting => Lasting::Waiting,
                State::Believing => Lasting::Believing,
                State::Halted => Lasting::Halted,
            };
            let (first, last) = (span.first, span.last.unwrap_or(end));
            Bar { host: span.client, lasting, grant: span.grant, first, last, label: None }
        })
        .collect();
    bars.extend(leases(course, end));
    bars.extend(clocks(course, end));
    bars.retain(|bar| course.hosts.contains(&bar.host));
    bars.sort_by_key(|bar| (bar.lasting == Lasting::Halted, bar.lasting == Lasting::ClockError, bar.first));
    bars
}

/// From the creation of a record to its end.
fn leases(course: &Course<'_>, end: usize) -> Vec<Bar> {
    let mut leases: Vec<Bar> = Vec::new();
    let mut open: BTreeMap<(HostId, &Key), usize> = BTreeMap::new();
    for (at, event) in course.story.trace.events.iter().enumerate() {
        match &event.what {
            What::Created { key } => {
                let bar = Bar {
                    host: event.host,
                    lasting: Lasting::Lease,
                    grant: event.grant,
                    first: at,
                    last: end,
                    label: None,
                };
                if let Some(earlier) = open.insert((event.host, key), leases.len()) {
                    leases[earlier].last = at;
                }
                leases.push(bar);
            }
            What::Deleted { key } | What::Expired { key, .. } | What::Lost { key } => {
                if let Some(lease) = open.remove(&(event.host, key)) {
                    leases[lease].last = at;
                }
            }
            _ => {}
        }
    }
    leases
}

/// From a step of a clock to the next one, and from a change of its rate on; the errors that clocks begin with are left out.
fn clocks(course: &Course<'_>, end: usize) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut off: BTreeMap<HostId, (i64, usize)> = BTreeMap::new();
    let clock = |host, first, last, label| Bar {
        host,
        lasting: Lasting::ClockError,
        grant: None,
        first,
        last,
        label: Some(label),
    };
    for (at, event) in course.story.trace.events.iter().enumerate() {
        let begins = event.at.as_nanos() == 0 && event.cause.is_none();
        match event.what {
            What::ClockStepped { by_ns } if !begins => {
                let (before, since) = off.get(&event.host).copied().unwrap_or((0, at));
                if before != 0 {
                    bars.push(clock(event.host, since, at, offset(before)));
                }
                off.insert(event.host, (before + by_ns, at));
            }
            What::DriftSet { ppm } if !begins && ppm != 0 => {
                bars.push(clock(event.host, at, end, format!("{ppm:+} ppm")));
            }
            _ => {}
        }
    }
    let last = off.into_iter().filter(|(_, (by, _))| *by != 0);
    bars.extend(last.map(|(host, (by, since))| clock(host, since, end, offset(by))));
    bars
}
