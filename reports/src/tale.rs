//! The explanation of a run in one paragraph: what was found, one finding of each invariant, then in order of time who got the lock, which faults
//! struck, how the store came to forget the first grant, who got in, and when the first holder stopped believing.
//!
//! It says only what the trace shows. It does not judge: the finding has done that.

use std::time::Duration;

use picklock_scenarios::history::History;
use picklock_scenarios::outcome::Finding;
use picklock_scenarios::story::{Breach, Story};
use picklock_sim::ids::{EventId, GrantId};
use picklock_sim::trace::{Event, Trace, What};

use crate::numbers::{plural, span};
use crate::relevance::{creator, key};
use crate::spans::{self, Span};
use crate::words::Names;

/// At most so many faults are told one by one.
const FAULTS: usize = 4;

/// What the run violates, a sentence for a finding of each invariant, in the order of their numbers; or that there is
/// nothing.
pub(crate) fn found(story: &Story) -> Vec<String> {
    if story.leading().is_none() {
        return vec!["No invariant was found violated in this run.".to_owned()];
    }
    let names = Names::of(&story.trace);
    let found = |breach: &Breach| {
        let first = breach.findings.first()?;
        let more = match breach.findings.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more of this kind)"),
        };
        // With one invariant, the head has named it.
        let named = if story.breaches.len() > 1 { format!("{}: ", breach.invariant) } else { String::new() };
        let text = names.as_known(&first.text);
        Some(sentence(&format!("{named}{}{more}", text.trim().trim_end_matches('.'))))
    };
    story.breaches.iter().filter_map(found).collect()
}

/// How the first of them came about, in sentences; nothing if there is none.
pub(crate) fn course(story: &Story, spans: &[Span]) -> String {
    let Some(finding) = story.leading() else { return String::new() };
    let history = History::of(&story.trace);
    let names = Names::of(&story.trace);
    Teller { trace: &story.trace, history: &history, names, spans, finding }.course().join(" ")
}

/// The text as a sentence: a finding is one already, but for its first letter and its full stop. Host names keep
/// their spelling.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{text}{end}")
}

struct Teller<'a> {
    trace: &'a Trace,
    history: &'a History<'a>,
    names: Names<'a>,
    spans: &'a [Span],
    finding: &'a Finding,
}

impl Teller<'_> {
    /// The course of events in sentences, in order of time.
    fn course(&self) -> Vec<String> {
        let end = self.end();
        let mut course = self.faults(end);
        course.extend(self.promotions(end));
        if let [first, between @ .., last] = &self.finding.grants[..] {
            course.extend(between.iter().filter_map(|grant| self.joined(*grant)));
            course.extend(self.clash(*first, *last));
        }
        course.sort_by_key(|(position, _)| *position);
        let mut course: Vec<String> = course.into_iter().map(|(_, words)| words).collect();
        course.extend(self.extent());
        course
    }

    /// The position of the last event that the finding cites or that ends one of its beliefs.
    /// One that is not about a clash concerns the whole run.
    fn end(&self) -> usize {
        if self.finding.grants.len() < 2 {
            return self.trace.events.len();
        }
        let beliefs = self.finding.grants.iter().filter_map(|grant| spans::belief(self.spans, *grant));
        let cited = self.finding.events.iter().filter_map(|id| self.position(*id));
        beliefs.filter_map(|belief| belief.last).chain(cited).max().unwrap_or(self.trace.events.len())
    }

    fn position(&self, id: EventId) -> Option<usize> {
        self.trace.events.iter().position(|event| event.id == id)
    }

    fn faults(&self, end: usize) -> Vec<(usize, String)> {
        let injected = |(position, event): (usize, &Event)| match &event.what {
            What::Injected { injection, text } => {
                let fault = self.names.fault(*injection);
                Some((position, format!("At {} the fault {fault} struck: {}", event.at, sentence(text))))
            }
            _ => None,
        };
        let mut faults: Vec<_> = self.events_until(end).filter_map(injected).collect();
        let more = faults.len().saturating_sub(FAULTS);
        if let Some((_, last)) = faults.get_mut(FAULTS - 1).filter(|_| more > 0) {
            last.push_str(&format!(" ({more} more {} struck after it.)", plural(more as u64, "fault")));
        }
        faults.truncate(FAULTS);
        faults
    }

    fn promotions(&self, end: usize) -> Vec<(usize, String)> {
        let promoted = |(position, event): (usize, &Event)| {
            let promoted = event.what == What::Promoted;
            promoted.then(|| {
                (position, format!("At {} {} became the primary.", event.at, self.names.host(event.host)))
            })
        };
        self.events_until(end).filter_map(promoted).collect()
    }

    fn events_until(&self, end: usize) -> impl Iterator<Item = (usize, &Event)> {
        self.trace.events.iter().enumerate().take(end.saturating_add(1))
    }

    /// Where more than one may hold: one of those who do so rightly.
    fn joined(&self, grant: GrantId) -> Option<(usize, String)> {
        let belief = spans::belief(self.spans, grant)?;
        let got = self.trace.events.get(belief.first)?;
        let what = key(&got.what).map(|key| format!("`{key}`")).unwrap_or_default();
        Some((belief.first, format!("At {} {} got {what} too.", got.at, self.names.grant(grant))))
    }

    fn clash(&self, first: GrantId, second: GrantId) -> Vec<(usize, String)> {
        let (Some(one), Some(two)) = (spans::belief(self.spans, first), spans::belief(self.spans, second))
        else {
            return Vec::new();
        };
        let (Some(got), Some(got_in)) = (self.trace.events.get(one.first), self.trace.events.get(two.first))
        else {
            return Vec::new();
        };
        let what = key(&got.what).map(|key| format!("`{key}`")).unwrap_or_default();
        let (holder, newcomer) = (self.names.grant(first), self.names.grant(second));
        let ended = one.end(self.trace);
        if two.first < one.first {
            return self.late_to_know((first, one), (second, two), &what);
        }
        let meanwhile = if one.last.is_none_or(|last| last > two.first) && ended >= got_in.at {
            format!("while {holder} still believed that it held it, until {ended}")
        } else {
            format!("when {holder} had stopped believing that it held it, at {ended}")
        };
        let mut course = vec![
            (one.first, format!("{holder} got {what} at {}.", got.at)),
            (two.first, format!("{newcomer} got it at {}, {meanwhile}.", got_in.at)),
        ];
        course.extend(self.forgotten(first, one.first, two.first));
        course.extend(self.late_changes(first, two.first));
        course
    }

    /// The course of a clash in which the earlier grant was seen by its client only after the later one.
    fn late_to_know(
        &self,
        (first, one): (GrantId, &Span),
        (second, two): (GrantId, &Span),
        what: &str,
    ) -> Vec<(usize, String)> {
        let (holder, newcomer) = (self.names.grant(first), self.names.grant(second));
        let granted = self.history.grants().find(|(section, _)| section.id == first).map(|(_, grant)| grant);
        // Where no server told of it, it is known by when it was granted at the latest.
        let by = if granted.is_none_or(|grant| grant.is_dated()) { "at" } else { "by" };
        let granted = granted.map_or(self.trace.events[one.first].at, |grant| grant.granted_at);
        let executed = self.trace.events.iter().position(|event| event.at >= granted).unwrap_or(two.first);
        let [knew, got_in] = [one, two].map(|span| self.trace.events[span.first].at);
        let ended = two.end(self.trace);
        let mut course = vec![
            (executed, format!("{holder} was granted {what} {by} {granted}, and was yet to learn of it.")),
            (two.first, format!("{newcomer} got it at {got_in}, and believed in it until {ended}.")),
            (one.first, format!("{holder} learned of its grant at {knew}.")),
        ];
        course.extend(self.forgotten(first, executed, two.first));
        course.extend(self.late_changes(first, two.first));
        course
    }

    /// How the stores came to forget the first grant before the second one was given.
    fn forgotten(&self, first: GrantId, from: usize, until: usize) -> Vec<(usize, String)> {
        let holder = self.names.grant(first);
        let mut told: Vec<(usize, String, Vec<&str>)> = Vec::new();
        for (position, event) in self.trace.events.iter().enumerate().take(until).skip(from) {
            let words = match (&event.what, event.grant) {
                (What::Expired { .. }, _) => format!("the lease of {holder} ran out"),
                (What::Lost { .. }, _) => "the acknowledged record was lost".to_owned(),
                (What::Deleted { .. }, Some(grant)) if grant != first => {
                    format!("{} deleted the record", self.names.grant(grant))
                }
                _ => continue,
            };
            // By its record and not by its key: of several slots under one lock, another one's end is not this one's.
            if creator(&self.trace.events, position) != Some(first) {
                continue;
            }
            let store = self.names.host(event.host);
            match told.iter_mut().find(|(_, same, _)| *same == words) {
                Some((_, _, stores)) if stores.contains(&store) => {}
                Some((_, _, stores)) => stores.push(store),
                None => told.push((position, words, vec![store])),
            }
        }
        let say = |(position, words, stores): (usize, String, Vec<&str>)| {
            let at = self.trace.events[position].at;
            let since = if stores.len() > 1 { "From" } else { "At" };
            (position, format!("{since} {at} {words} on {}.", list(&stores)))
        };
        told.into_iter().map(say).collect()
    }

    /// The cited changes of the first grant that the resource applied after the second one was given.
    fn late_changes(&self, first: GrantId, after: usize) -> Vec<(usize, String)> {
        let late = |(position, event): (usize, &Event)| {
            let change =
                matches!(event.what, What::ResourceWritten { .. } | What::ResourceTaken { taken: true, .. });
            let cited = self.finding.events.contains(&event.id);
            (change && cited && position > after && event.grant == Some(first)).then(|| {
                let (resource, holder) = (self.names.host(event.host), self.names.grant(first));
                (position, format!("At {} {resource} applied a change of {holder}.", event.at))
            })
        };
        self.trace.events.iter().enumerate().filter_map(late).collect()
    }

    /// For how long both believed, if that is what was found.
    fn extent(&self) -> Option<String> {
        let width = self.finding.width.filter(|width| *width > Duration::ZERO)?;
        let [first, second, ..] = self.finding.grants[..] else { return None };
        let (one, two) = (spans::belief(self.spans, first)?, spans::belief(self.spans, second)?);
        let begins = self.trace.events[one.first.max(two.first)].at;
        let ends = one.end(self.trace).min(two.end(self.trace));
        (ends.since(begins) == width).then(|| format!("They overlapped for {}.", span(width)))
    }
}

/// "node-1, node-2 and node-3".
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
