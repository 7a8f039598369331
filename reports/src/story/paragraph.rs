//! The explanation of a run in one paragraph: what was found, one finding of each invariant, then in order of time who got the
//! lock and for how long each believed in it, which faults hit, how the stores came to forget a grant, and what a grant that
//! was over still did.
//!
//! It says only what the trace shows. It does not judge: the finding has done that.

use std::collections::BTreeSet;

use picklock_campaign::story::{Breach, Story};
use picklock_judge::history::{Granted, History, Record, Section, Touch};
use picklock_judge::invariants::between;
use picklock_judge::outcome::Finding;
use picklock_model::ids::{EventId, GrantId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Trace, What};

use super::place::Places;
use super::words::Names;
use crate::page::numbers::plural;

/// At most so many faults are named one by one.
const FAULTS: usize = 4;

/// The violations of the run, a sentence for a finding of each invariant, in the order of the story; or that there are none.
pub(crate) fn found(story: &Story) -> Vec<String> {
    if story.leading().is_none() {
        return vec!["No invariant was found violated in this run.".to_owned()];
    }
    let names = Names::of(&story.trace);
    let found = |breach: &Breach| {
        let first = breach.findings.first()?;
        let more = match breach.findings.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more {})", plural(more as u64, "finding")),
        };
        // With one invariant, the head has named it.
        let named = if story.breaches.len() > 1 { format!("{}: ", breach.invariant) } else { String::new() };
        let text = names.as_known(&first.text);
        Some(sentence(&format!("{named}{}{more}", text.trim().trim_end_matches('.'))))
    };
    story.breaches.iter().filter_map(found).collect()
}

/// How the first of them came about, in sentences; nothing if there is none.
pub(crate) fn course(story: &Story) -> String {
    let Some(finding) = story.leading() else { return String::new() };
    let history = History::of(&story.trace);
    let names = Names::of(&story.trace);
    let places = Places::of(story);
    Teller { trace: &story.trace, history: &history, names, places, finding }.course().join(" ")
}

/// The text as a sentence: a finding is one already, but for its first letter and its full stop. Host names keep
/// their spelling.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{text}{end}")
}

/// A section of the finding with the grant that it got.
type Held<'h, 't> = (&'h Section<'t>, &'h Granted<'t>);

/// How a record of a grant ended on the stores on which it ended alike.
struct End<'a> {
    /// Where the first of them stands, and when the last one was.
    position: usize,
    last: TrueTime,
    what: String,
    /// The grant that its author had lost before.
    after: String,
    stores: Vec<&'a str>,
}

struct Teller<'a> {
    trace: &'a Trace,
    history: &'a History<'a>,
    names: Names<'a>,
    places: Places<'a>,
    finding: &'a Finding,
}

impl<'a> Teller<'a> {
    /// The course of events in sentences, in order of time.
    fn course(&self) -> Vec<String> {
        let end = self.end();
        let mut course = self.faults(end);
        course.extend(self.promotions(end));
        let held = self.held();
        for (nth, held) in held.iter().enumerate() {
            course.push(self.belief(held, nth == 0));
            course.extend(self.forgotten(held, &held_after(&self.finding.grants, held.0.id), end));
        }
        course.extend(self.asked());
        course.extend(self.foreign());
        course.extend(self.late_changes(&held));
        course.sort_by_key(|(position, _)| *position);
        let mut course: Vec<String> = course.into_iter().map(|(_, words)| words).collect();
        course.extend(overlap(&held));
        course
    }

    /// The grants of the finding that their clients ever saw, in grant order.
    fn held(&self) -> Vec<Held<'a, 'a>> {
        let grants = self.finding.grants.iter().filter_map(|grant| self.history.place_of(*grant));
        let sections = grants.map(|at| &self.history.sections[at]);
        sections.filter_map(|section| Some((section, section.grant.as_ref()?))).collect()
    }

    /// The position of the last event that the finding cites or that ends one of its beliefs.
    /// One that is not about a clash concerns the whole run.
    fn end(&self) -> usize {
        if self.finding.grants.len() < 2 {
            return self.trace.events.len();
        }
        let held = self.held();
        let beliefs = held.iter().filter_map(|(_, grant)| grant.belief_end).map(|event| event.id);
        let events = beliefs.chain(self.finding.events.iter().copied());
        events.filter_map(|id| self.position(id)).max().unwrap_or(self.trace.events.len())
    }

    fn position(&self, id: EventId) -> Option<usize> {
        self.trace.events.iter().position(|event| event.id == id)
    }

    /// The position of the first event at this instant or after it.
    fn place_at(&self, at: TrueTime) -> usize {
        self.trace.events.partition_point(|event| event.at < at)
    }

    fn faults(&self, end: usize) -> Vec<(usize, String)> {
        let injected = |(position, event): (usize, &Event)| match &event.what {
            What::Injected { injection, applied } => {
                let fault = self.names.fault(*injection);
                let text = sentence(&format!("{}{}", self.trace.words(applied), self.places.say(event)));
                Some((position, format!("At {} the fault {fault} hit: {text}", event.at)))
            }
            _ => None,
        };
        let mut faults: Vec<_> = self.events_until(end).filter_map(injected).collect();
        let more = faults.len().saturating_sub(FAULTS);
        if let Some((_, last)) = faults.get_mut(FAULTS - 1).filter(|_| more > 0) {
            last.push_str(&format!(" ({more} more {} hit after it.)", plural(more as u64, "fault")));
        }
        faults.truncate(FAULTS);
        faults
    }

    fn promotions(&self, end: usize) -> Vec<(usize, String)> {
        let promoted = |(position, event): (usize, &Event)| {
            let promoted = event.what == What::BecameLeader;
            promoted.then(|| {
                let (host, without) = (self.names.host(event.host), self.names.without(event));
                let leader = self.trace.vocabulary(event.host).leader;
                (position, format!("At {} {host} became the {leader}{without}.", event.at))
            })
        };
        self.events_until(end).filter_map(promoted).collect()
    }

    fn events_until(&self, end: usize) -> impl Iterator<Item = (usize, &Event)> {
        self.trace.events.iter().enumerate().take(end.saturating_add(1))
    }

    /// When a grant was got, and from when until when its client believed in it.
    fn belief(&self, held: &Held<'_, '_>, first: bool) -> (usize, String) {
        let (section, grant) = held;
        let who = self.names.grant(section.id);
        let mode = self.names.mode(Some(section.id));
        let same = !first && self.held().iter().all(|(other, _)| other.key == section.key);
        let what = if same { "it".to_owned() } else { format!("`{}`", self.history.key_name(section.key)) };
        let got = grant.acquired.at;
        let late = first && self.learned_late(grant);
        let begin = if late {
            // Where no server reported it, only the latest possible time of the grant is known.
            let by = if grant.is_dated() { "at" } else { "by" };
            format!("{who} was granted {what}{mode} {by} {}, learned of it at {got}", grant.granted_at)
        } else {
            format!("{who} got {what}{mode} at {got}")
        };
        let words = match grant.belief_end {
            None if grant.believed_until <= got => format!("{begin}, when the run ended."),
            Some(event) if grant.believed_until <= got && event.id == grant.acquired.id => {
                format!("{begin}, when its deadline had passed, and never believed in it.")
            }
            Some(_) if grant.believed_until <= got => format!("{begin} and gave it up at once."),
            None => format!(
                "{begin} and believed that it held it until the run ended at {}.",
                grant.believed_until
            ),
            Some(event) if matches!(event.what, What::Crashed { .. }) => {
                format!("{begin} and believed that it held it until it crashed at {}.", event.at)
            }
            Some(_) => format!("{begin} and believed that it held it until {}.", grant.believed_until),
        };
        let at = if late { grant.granted_at } else { got };
        let position = if late { self.place_at(at) } else { self.position(grant.acquired.id).unwrap_or(0) };
        (position, words)
    }

    /// True if a later grant of the finding was seen by its client before this one was by its own.
    fn learned_late(&self, grant: &Granted<'_>) -> bool {
        let seen = |grant: &Granted<'_>| (grant.acquired.at, grant.acquired.id);
        self.held().iter().any(|(_, other)| other.rank > grant.rank && seen(other) < seen(grant))
    }

    /// The client of the finding that asked and got nothing.
    fn asked(&self) -> Vec<(usize, String)> {
        let sections = self.finding.grants.iter().filter_map(|grant| self.history.place_of(*grant));
        let sections =
            sections.map(|at| &self.history.sections[at]).filter(|section| section.grant.is_none());
        let say = |section: &Section<'_>| {
            let asked = section.asked?;
            let (who, key) = (self.names.grant(section.id), self.history.key_name(section.key));
            let asks = format!("{who} asked for `{key}` at {}", asked.at);
            let words = match section.answered {
                None => format!("{asks} and still asked when the run ended."),
                Some(Event { at, what: What::NotAcquired { why, .. }, .. }) => {
                    format!("{asks} and gave up at {at}: {}", sentence(why))
                }
                Some(Event { at, what: What::Crashed { .. }, .. }) => format!("{asks} and crashed at {at}."),
                Some(_) => return None,
            };
            Some((self.position(asked.id)?, words))
        };
        sections.filter_map(say).collect()
    }

    /// How the stores came to forget a grant before `until`.
    fn forgotten(&self, held: &Held<'_, '_>, later: &[GrantId], end: usize) -> Vec<(usize, String)> {
        let (section, grant) = held;
        if self.names.shares_connection(section.id.client) {
            return Vec::new();
        }
        let seen = |grant: &GrantId| {
            let place = self.history.place_of(*grant)?;
            self.position(self.history.sections[place].grant.as_ref()?.acquired.id)
        };
        // A client that in the end deletes a record that it no longer holds has lost its own before that.
        let cited = self.finding.events.last().and_then(|id| self.position(*id));
        let acts = cited.filter(|at| self.trace.events[*at].grant == Some(section.id));
        let until = later.iter().filter_map(seen).chain(acts).max();
        // How the last of several ended led to nothing.
        let Some(until) = until.or((self.finding.grants.len() < 2).then_some(end)) else { return Vec::new() };
        let holder = self.names.grant(section.id);
        let mut ends: Vec<End<'_>> = Vec::new();
        // Not what earlier tries of the section have left.
        let own = self.history.records_of_grant(section, grant).filter(|record| record.key == section.key);
        let deciding = deciding_stores(self.history, &self.finding.grants, section.id);
        for record in own.filter(|record| deciding.is_empty() || deciding.contains(&record.created.host)) {
            let Some(ended) = record.ended else { continue };
            let position = self.position(ended.id).filter(|at| *at < until);
            let Some((position, what)) = position.zip(self.end_of(record, ended, &holder)) else { continue };
            let store = self.names.host(ended.host);
            let by = ended.grant.filter(|_| matches!(ended.what, What::Deleted { .. }));
            let after = by.map(|by| self.own_end(by, ended)).unwrap_or_default();
            match ends.iter_mut().find(|end| end.what == what && end.after == after) {
                Some(end) if end.stores.contains(&store) => {}
                Some(end) => {
                    (end.position, end.last) = (position.min(end.position), ended.at.max(end.last));
                    end.stores.push(store);
                }
                None => ends.push(End { position, last: ended.at, what, after, stores: vec![store] }),
            }
        }
        let say = |End { position, last, what, after, stores }: End<'_>| {
            let when = match self.trace.events[position].at {
                first if differs(first, last) => format!("Between {first} and {last}"),
                at => format!("At {at}"),
            };
            (position, format!("{when} {what} on {}{after}.", list(&stores)))
        };
        ends.into_iter().map(say).collect()
    }

    /// How a record was ended that its own section did not delete.
    fn end_of(&self, record: &Record<'_>, ended: &Event, holder: &str) -> Option<String> {
        let grant = ended.grant.filter(|grant| Some(*grant) != record.created.grant);
        match (&ended.what, grant) {
            (What::Expired { .. }, _) if let Some(former) = self.names.revoked_by(ended) => Some(format!(
                "the lease of {holder}, which had not run out, was revoked by a proposal of {}, the {} before,",
                self.names.host(former),
                self.trace.vocabulary(former).leader
            )),
            (What::Expired { .. }, _) if !self.trace.vocabulary(ended.host).drops => {
                Some(format!("the lease of {holder} was over"))
            }
            (What::Expired { .. }, _) if self.names.comes_back(ended) => Some(format!(
                "the record of {holder}, whose lease had run out at {}, was gone",
                self.history.ran_out(ended)
            )),
            (What::Expired { .. }, _) => match self.history.ran_out(ended) {
                at if differs(at, ended.at) => {
                    let by = if self.trace.vocabulary(ended.host).proposes { "by" } else { "at" };
                    Some(format!("the record of {holder}, whose lease had run out {by} {at}, was dropped"))
                }
                _ => Some(format!("the lease of {holder} ran out")),
            },
            (What::Lost { .. }, _) => Some(format!("the acknowledged record of {holder} was lost")),
            (What::Created { .. }, Some(grant)) => {
                Some(format!("{} replaced the record of {holder}", self.names.grant(grant)))
            }
            // A foreign release that the finding is about is shown below.
            (What::Deleted { .. }, Some(grant)) if !self.finding.events.contains(&ended.id) => {
                Some(format!("{} deleted the record of {holder}", self.names.grant(grant)))
            }
            _ => None,
        }
    }

    /// The act of a grant of the finding on the record of another one.
    fn foreign(&self) -> Vec<(usize, String)> {
        let cited = self.history.touches.iter().filter(|touch| self.finding.events.contains(&touch.event.id));
        let say = |touch: &Touch<'_>| {
            let record = &self.history.records[touch.record];
            let (owner, actor) = (record.created.grant?, touch.event.grant?);
            let did = match touch.event.what {
                What::Deleted { .. } => "deleted",
                What::Extended { .. } => "extended",
                What::Created { .. } => "replaced",
                _ => return None,
            };
            let (event, owner_is) = (touch.event, self.names.grant(owner));
            let words = format!(
                "At {} {} {did} the record of {owner_is} on {}{}.",
                event.at,
                self.names.grant(actor),
                self.names.host(event.host),
                self.own_end(actor, event),
            );
            (owner != actor).then_some((self.position(event.id)?, words))
        };
        cited.filter_map(say).collect()
    }

    /// ", whose own lease had run out there at 1.2s": how whoever touches the record of somebody else had lost its own.
    fn own_end(&self, actor: GrantId, touch: &Event) -> String {
        let Some(place) = self.history.place_of(actor) else { return String::new() };
        let own = self.history.records_of(&self.history.sections[place]).filter_map(|record| record.ended);
        let mut expired = own.filter(|ended| {
            ended.host == touch.host && ended.id < touch.id && matches!(ended.what, What::Expired { .. })
        });
        let ran_out = expired.next().map(|ended| self.history.ran_out(ended));
        ran_out.map(|at| format!(", after its own lease had run out there at {at}")).unwrap_or_default()
    }

    /// The cited changes that the resource applied for an earlier grant after a later one was seen.
    fn late_changes(&self, held: &[Held<'_, '_>]) -> Vec<(usize, String)> {
        let [first, .., last] = held else { return Vec::new() };
        let after = last.1.acquired.at;
        let late = |(position, event): (usize, &Event)| {
            let change =
                matches!(event.what, What::ResourceWritten { .. } | What::ResourceTaken { taken: true, .. });
            let cited = self.finding.events.contains(&event.id);
            (change && cited && event.at > after && event.grant == Some(first.0.id)).then(|| {
                let (resource, holder) = (self.names.host(event.host), self.names.grant(first.0.id));
                (position, format!("At {} the {resource} applied a change of {holder}.", event.at))
            })
        };
        self.trace.events.iter().enumerate().filter_map(late).collect()
    }
}

/// From when until when, and for how long, all of them believed that they held.
fn overlap(held: &[Held<'_, '_>]) -> Option<String> {
    let both = match held.len() {
        0 | 1 => return None,
        2 => "Both".to_owned(),
        all => format!("All {all}"),
    };
    let from = held.iter().map(|(_, grant)| grant.acquired.at).max()?;
    let until = held.iter().map(|(_, grant)| grant.believed_until).min()?;
    let words = || {
        format!("{both} believed that they held it from {from} until {until}: for {}.", between(from, until))
    };
    (from < until).then(words)
}

/// The stores that granted a later one of these grants than this: what they had forgotten by then decided. Empty if none is known.
pub(crate) fn deciding_stores<'g>(
    history: &History<'_>,
    grants: impl IntoIterator<Item = &'g GrantId>,
    grant: GrantId,
) -> BTreeSet<HostId> {
    let later = grants.into_iter().filter(|other| history.order_of(**other) > history.order_of(grant));
    let sections = later.filter_map(|other| history.place_of(*other)).map(|at| &history.sections[at]);
    let records = sections.flat_map(|section| history.records_of(section).filter(|it| it.key == section.key));
    records.filter(|record| record.on_store).map(|record| record.created.host).collect()
}

/// The grants that come after one of them.
fn held_after(grants: &[GrantId], grant: GrantId) -> Vec<GrantId> {
    grants.iter().copied().skip_while(|one| *one != grant).skip(1).collect()
}

/// True if two instants are written differently.
pub(crate) fn differs(one: TrueTime, other: TrueTime) -> bool {
    one.as_nanos() / 1_000 != other.as_nanos() / 1_000
}

/// "node-1, node-2 and node-3".
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
