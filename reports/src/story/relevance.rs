//! Which events belong to a story.
//!
//! A run has hundreds of events, a story twenty. Kept are the events that a finding cites, the lives of the clients
//! on the keys concerned from the first clashing grant's beginning to the last one's end, what the stores and the
//! resource did for them, and every fault up to that end. Of the messages, what the clients of the clash asked of stores and
//! were answered is shown in lines of its own, but for renewals that succeeded, which the stores' events show; of others,
//! requests that were never answered. The segments themselves are left out, except those that were held for longer than the
//! network ever takes and that lead to what is cited; connections that end in good order; the
//! clocks' initial errors; announcements of Sentinels on the way to a decision; and the store's records of tries that came to nothing.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::Story;
use picklock_judge::history::History;
use picklock_judge::invariants::{Promise, is_about};
use picklock_judge::outcome::Finding;
use picklock_model::ids::{EventId, GrantId, HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Disconnect, Event, What};

use super::exchanges::{Exchange, Outcome, is_late};
use super::reentries;
use super::spans::{self, Span, State};

/// The positions of the events that belong to the story, in order, and what of the messages does.
pub(crate) fn positions(story: &Story, spans: &[Span]) -> (Vec<usize>, Window) {
    let view = View::of(story, spans);
    let positions = (0..story.trace.events.len()).filter(|position| view.keeps(*position)).collect();
    (positions, view.window())
}

/// The events that prove what the run violates: of each invariant, the first finding.
pub(crate) fn cited(story: &Story) -> BTreeSet<EventId> {
    let first = story.breaches.iter().filter_map(|breach| breach.findings.first());
    first.flat_map(|finding| finding.events.iter().copied()).collect()
}

/// Which messages belong to the story.
pub(crate) struct Window {
    first: usize,
    last: usize,
    /// The grants that the findings are about.
    grants: BTreeSet<GrantId>,
    /// The clients that ask for one of the keys, from where to where.
    asking: Vec<(GrantId, usize, usize)>,
    /// The arrivals of requests that counted a hold of a re-entrant lock.
    counting: BTreeSet<usize>,
}

impl Window {
    /// True if the exchange is shown.
    pub(crate) fn shows(&self, exchange: &Exchange) -> bool {
        let went_well = matches!(exchange.outcome, Outcome::Answered(_) | Outcome::NeedsNoAnswer);
        let counts = exchange.positions.iter().any(|position| self.counting.contains(position));
        let renewed = exchange.extended && went_well && !counts;
        (self.first..=self.last).contains(&exchange.sent)
            && !renewed
            && (!went_well || self.grants.contains(&exchange.grant) || self.is_refused(exchange))
    }

    /// True if somebody who asks for the lock was answered and nothing came of it.
    fn is_refused(&self, exchange: &Exchange) -> bool {
        let asks = |(grant, first, last): &(GrantId, usize, usize)| {
            *grant == exchange.grant && (*first..=*last).contains(&exchange.sent)
        };
        !exchange.changed && exchange.setup.is_none() && self.asking.iter().any(asks)
    }
}

/// The key that an event is about, if it is about one.
pub(crate) fn key(what: &What) -> Option<&Key> {
    match what {
        What::Waiting { key, .. }
        | What::Acquired { key, .. }
        | What::NotAcquired { key, .. }
        | What::DeadlinePassed { key }
        | What::Aborted { key }
        | What::Releasing { key }
        | What::Released { key, .. }
        | What::Renewed { key, .. }
        | What::Reentered { key, .. }
        | What::NotReentered { key, .. }
        | What::Left { key, .. }
        | What::Created { key }
        | What::Extended { key }
        | What::Deleted { key }
        | What::Expired { key, .. }
        | What::Lost { key }
        | What::LeaseLost { key }
        | What::ResourceRead { key, .. }
        | What::ResourceWritten { key, .. }
        | What::ResourceRestored { key, .. }
        | What::ResourceTaken { key, .. }
        | What::ResourceRefused { key, .. }
        | What::WriteAcknowledged { key }
        | What::WriteUnknown { key }
        | What::WriteRefused { key } => Some(key),
        _ => None,
    }
}

struct View<'a> {
    events: &'a [Event],
    cited: BTreeSet<EventId>,
    /// Empty: every key.
    keys: BTreeSet<&'a Key>,
    /// The positions between which lives are shown.
    first: usize,
    last: usize,
    /// The grants that the findings are about.
    grants: Vec<GrantId>,
    /// The clients that ask for one of the keys, from where to where.
    asking: Vec<(GrantId, usize, usize)>,
    /// The clients of these grants, and who asks.
    clients: BTreeSet<HostId>,
    /// Grants that were ever seen by their client.
    acquired: BTreeSet<GrantId>,
    /// Records of tries that came to nothing.
    futile: BTreeSet<usize>,
    /// Segments held on their way to what is cited.
    held: BTreeSet<usize>,
    /// Leases that are set as their record is made.
    first_leases: BTreeSet<usize>,
    /// The acts of others on the records of these grants.
    by_others: BTreeSet<EventId>,
    /// Where a hold of a re-entrant lock was counted for one of these grants.
    counted: BTreeSet<EventId>,
}

impl<'a> View<'a> {
    fn of(story: &'a Story, spans: &[Span]) -> View<'a> {
        let events = story.trace.events.as_slice();
        let findings: Vec<&Finding> =
            story.breaches.iter().filter_map(|breach| breach.findings.first()).collect();
        let grants: Vec<GrantId> =
            findings.iter().flat_map(|finding| finding.grants.iter().copied()).collect();
        let cited = cited(story);
        let clash = findings.first().is_some_and(|finding| finding.grants.len() > 1);
        let (first, last) = window(story, &grants, clash, &cited, spans);
        let keys = keys(events, &findings);
        let asking = asking(events, spans, &keys);
        let clients = grants.iter().chain(asking.iter().map(|(grant, ..)| grant)).map(|grant| grant.client);
        let acquired = |event: &&Event| matches!(event.what, What::Acquired { .. });
        let counts = reentries::of(story);
        let ours = |event: &&Event| {
            counts.contains_key(&event.id) && event.grant.is_some_and(|grant| grants.contains(&grant))
        };
        let counted: BTreeSet<EventId> = events.iter().filter(ours).map(|event| event.id).collect();
        View {
            events,
            clients: clients.collect(),
            keys,
            first,
            last,
            asking,
            acquired: events.iter().filter(acquired).filter_map(|event| event.grant).collect(),
            futile: futile(events),
            first_leases: first_leases(events),
            by_others: by_others(story, &grants),
            held: held(story, &grants, cited.union(&counted).copied().collect()),
            grants,
            cited,
            counted,
        }
    }

    /// The window with the grants of the clash and of what is cited.
    fn window(&self) -> Window {
        let of_cited = self.events.iter().filter(|event| self.cited.contains(&event.id));
        let grants = of_cited.filter_map(|event| event.grant).chain(self.grants.iter().copied());
        let asking = self.asking.clone();
        let places: BTreeMap<EventId, usize> =
            self.events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let counted = self.events.iter().filter(|event| self.counted.contains(&event.id));
        let counting = counted.filter_map(|event| places.get(&event.cause?).copied()).collect();
        Window { first: self.first, last: self.last, grants: grants.collect(), asking, counting }
    }

    fn keeps(&self, position: usize) -> bool {
        let event = &self.events[position];
        if self.cited.contains(&event.id) || self.held.contains(&position) {
            return true;
        }
        let in_time = position <= self.last;
        match &event.what {
            What::Injected { .. }
            | What::Healed { .. }
            | What::Paused { .. }
            | What::Resumed
            | What::Crashed { .. }
            | What::Restarted
            | What::BecameLeader
            | What::StoppedLeading
            | What::NotModelled { .. } => in_time,
            What::Noticed { text } => in_time && turns(text),
            // That a fault made a difference is counted, and shows in what it did.
            What::TookEffect { .. } => false,
            What::ClockStepped { .. } | What::DriftSet { .. } => {
                in_time && (event.cause.is_some() || event.at > TrueTime(0))
            }
            What::Disconnected { why, .. } => {
                in_time
                    && position >= self.first
                    && *why != Disconnect::Closed
                    && self.clients.contains(&event.host)
            }
            What::Created { .. } | What::Extended { .. } | What::Deleted { .. } => {
                self.lives(position)
                    && !self.futile.contains(&position)
                    && !self.first_leases.contains(&position)
                    && (event.grant.is_none_or(|grant| self.acquired.contains(&grant))
                        || self.by_others.contains(&event.id))
            }
            _ => self.lives(position),
        }
    }

    /// True if the event is about one of the keys, and inside the window.
    fn lives(&self, position: usize) -> bool {
        let about = key(&self.events[position].what);
        (self.first..=self.last).contains(&position)
            && about.is_some_and(|key| self.keys.is_empty() || self.keys.contains(key))
    }
}

/// True if an announcement is about a primary that goes or comes, or about slots that move. Votes, epochs and steps in between are left
/// to the full timeline.
fn turns(text: &str) -> bool {
    const TURNS: [&str; 15] = [
        "+sdown master ",
        "-sdown master ",
        "+odown ",
        "+elected-leader ",
        "+selected-slave ",
        "+promoted-slave ",
        "+switch-master ",
        "+convert-to-slave ",
        "-failover-abort",
        "-odown ",
        "+tilt ",
        "-tilt ",
        "Pausing writes for slot handoff",
        "Slot migration failed",
        "Taking over slots",
    ];
    TURNS.iter().any(|turn| text.starts_with(turn))
}

/// True if an event is a fault's, or what it does to a host.
pub(crate) fn is_mishap(what: &What) -> bool {
    matches!(
        what,
        What::Injected { .. }
            | What::TookEffect { .. }
            | What::Healed { .. }
            | What::Paused { .. }
            | What::Resumed
            | What::Crashed { .. }
            | What::Restarted
            | What::ClockStepped { .. }
            | What::DriftSet { .. }
            | What::BecameLeader
            | What::StoppedLeading
    )
}

/// The clients that ask for one of the keys, from where to where.
fn asking(events: &[Event], spans: &[Span], keys: &BTreeSet<&Key>) -> Vec<(GrantId, usize, usize)> {
    let end = events.len().saturating_sub(1);
    let asked = |span: &Span| key(&events[span.first].what);
    let ours = |span: &&Span| {
        span.state == State::Waiting && asked(span).is_some_and(|key| keys.is_empty() || keys.contains(key))
    };
    let asks = spans.iter().filter(ours);
    asks.filter_map(|span| Some((span.grant?, span.first, span.last.unwrap_or(end)))).collect()
}

/// The keys of the grants that the findings are about, or else of the events cited.
fn keys<'a>(events: &'a [Event], findings: &[&Finding]) -> BTreeSet<&'a Key> {
    let of = |such: &dyn Fn(&Event) -> bool| -> BTreeSet<&'a Key> {
        events.iter().filter(|event| such(event)).filter_map(|event| key(&event.what)).collect()
    };
    let ours = |grant: GrantId| findings.iter().any(|finding| finding.grants.contains(&grant));
    let of_grants = of(&|event| event.grant.is_some_and(ours));
    if !of_grants.is_empty() {
        return of_grants;
    }
    of(&|event| findings.iter().any(|finding| finding.events.contains(&event.id)))
}

/// From the first event of the clashing grants, or of the run, if it is not a clash of two grants, to the end of the last belief or
/// the last event cited. Events after the proof do not matter; without one (a block that lasts) all of it belongs.
fn window(
    story: &Story,
    grants: &[GrantId],
    clash: bool,
    cited: &BTreeSet<EventId>,
    spans: &[Span],
) -> (usize, usize) {
    let events = story.trace.events.as_slice();
    let end = events.len().saturating_sub(1);
    let blocked = story.breaches.iter().any(|breach| is_about(&breach.invariant, Promise::Availability));
    let beliefs = grants.iter().filter_map(|grant| spans::belief(spans, *grant));
    let beliefs_end = beliefs.map(|span| span.last.unwrap_or(end)).max();
    let cited_end = events.iter().rposition(|event| cited.contains(&event.id));
    let last = if blocked { None } else { beliefs_end.max(cited_end) };
    let ours = |event: &Event| event.grant.is_some_and(|grant| grants.contains(&grant));
    let first = if clash { events.iter().position(ours) } else { None };
    (first.unwrap_or(0), last.unwrap_or(end))
}

/// The records that a grant made and undid on one store before it was granted: tries that came to nothing.
pub(crate) fn futile(events: &[Event]) -> BTreeSet<usize> {
    let mut tries: BTreeMap<(GrantId, HostId), usize> = BTreeMap::new();
    let mut futile = BTreeSet::new();
    for (position, event) in events.iter().enumerate() {
        let Some(grant) = event.grant else { continue };
        match event.what {
            What::Created { .. } => {
                tries.insert((grant, event.host), position);
            }
            What::Deleted { .. } => {
                if let Some(created) = tries.remove(&(grant, event.host)) {
                    futile.extend([created, position]);
                }
            }
            What::Acquired { .. } => tries.retain(|(tried, _), _| *tried != grant),
            _ => {}
        }
    }
    futile
}

/// The acts of others than their owner on the records of these grants.
fn by_others(story: &Story, grants: &[GrantId]) -> BTreeSet<EventId> {
    let history = History::of(&story.trace);
    let by_others = history.touches.iter().filter(|touch| {
        let owner = history.records[touch.record].created.grant;
        owner != touch.event.grant && owner.is_some_and(|owner| grants.contains(&owner))
    });
    by_others.map(|touch| touch.event.id).collect()
}

/// The leases that are set in the very step in which their record is made.
fn first_leases(events: &[Event]) -> BTreeSet<usize> {
    let mut made: BTreeMap<(HostId, &Key), (TrueTime, Option<GrantId>)> = BTreeMap::new();
    let mut first = BTreeSet::new();
    for (position, event) in events.iter().enumerate() {
        match &event.what {
            What::Created { key } => {
                made.insert((event.host, key), (event.at, event.grant));
            }
            What::Extended { key } if made.remove(&(event.host, key)) == Some((event.at, event.grant)) => {
                first.insert(position);
            }
            _ => {}
        }
    }
    first
}

/// Both ends of each segment that took longer than the network's slowest and that led to one of these events or to one of
/// the clashing grants.
fn held(story: &Story, grants: &[GrantId], mut open: Vec<EventId>) -> BTreeSet<usize> {
    let events = story.trace.events.as_slice();
    let by_id: BTreeMap<EventId, usize> =
        events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
    let granted = events.iter().filter(|event| {
        matches!(event.what, What::Acquired { .. })
            && event.grant.is_some_and(|grant| grants.contains(&grant))
    });
    open.extend(granted.map(|event| event.id));
    let mut seen = BTreeSet::new();
    let mut held = BTreeSet::new();
    while let Some(id) = open.pop() {
        let Some(position) = by_id.get(&id).copied().filter(|_| seen.insert(id)) else { continue };
        let event = &events[position];
        let Some(cause) = event.cause else { continue };
        open.push(cause);
        let sent = by_id.get(&cause).copied().filter(|_| matches!(event.what, What::Delivered { .. }));
        if let Some(sent) = sent.filter(|sent| is_late(story, &events[*sent], event)) {
            held.extend([sent, position]);
        }
    }
    held
}
