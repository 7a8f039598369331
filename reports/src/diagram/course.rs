//! The drawn part of a run: its steps, which are the lines of the timeline and the links of the chain of causes, and the
//! messages behind them.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::Story;
use picklock_model::ids::{EventId, GrantId, HostId};
use picklock_model::trace::{Event, Role, What};

use super::short::{self, Kind};
use crate::story::exchanges::{self, Exchange};
use crate::story::spans::{self, Span};
use crate::story::words::Names;
use crate::story::{cause, relevance, rows};

/// A run, made ready to be drawn.
pub(crate) struct Course<'a> {
    pub(crate) story: &'a Story,
    pub(crate) steps: Vec<Step>,
    pub(crate) arrows: Vec<Arrow>,
    /// The spans of the clients.
    pub(crate) spans: Vec<Span>,
    /// The hosts that have a part in it: clients, stores, who watches them, the resource.
    pub(crate) hosts: Vec<HostId>,
    /// Where the double holder begins and ends, by position.
    pub(crate) overlap: Option<Overlap>,
}

/// An event as it is shown.
pub(crate) struct Step {
    /// The position of its event.
    pub(crate) position: usize,
    pub(crate) host: HostId,
    pub(crate) kind: Kind,
    /// The text beside it.
    pub(crate) label: String,
    /// The whole text about it.
    pub(crate) text: String,
    /// True if it proves a finding.
    pub(crate) proves: bool,
    /// True if it is a link of the chain of causes.
    pub(crate) link: bool,
    /// The step that made it happen, of those that are shown.
    pub(crate) cause: Option<usize>,
}

/// A message.
pub(crate) struct Arrow {
    pub(crate) sent: usize,
    pub(crate) source: HostId,
    /// Where it arrived; `None` if it never did.
    pub(crate) arrived: Option<usize>,
    pub(crate) target: HostId,
    /// True if it took longer than the network can explain.
    pub(crate) late: bool,
    /// The text of an answer.
    pub(crate) answer: Option<String>,
    /// The step that it belongs to.
    pub(crate) step: usize,
}

/// Where two believed that they held.
#[derive(Clone, Copy)]
pub(crate) struct Overlap {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) clients: [HostId; 2],
}

impl<'a> Course<'a> {
    pub(crate) fn of(story: &'a Story) -> Course<'a> {
        let spans = spans::of(&story.trace);
        let chain = story.breaches.first().map(|breach| cause::chain(story, breach));
        let chain: BTreeSet<usize> = chain.into_iter().flatten().collect();
        let (shown, window) = relevance::positions(story, &spans);
        let shown: Vec<usize> = shown.into_iter().chain(chain.iter().copied()).collect();
        let exchanges = exchanges::of(story);
        let relevant: Vec<_> = exchanges.iter().filter(|one| window.shows(one)).collect();
        let cited = relevance::cited(story);
        let (rows, _) = rows::relevant(story, &shown, &relevant, &cited);
        let mut messages = Messages::of(story, &exchanges);
        let names = Names::of(&story.trace);
        let mut steps = Vec::new();
        for row in rows {
            let event = &story.trace.events[row.position];
            let step = steps.len();
            let asked = row.requests.first().and_then(|sent| messages.asked(*sent));
            let (kind, label) = match asked {
                Some(_) if row.sets_up => (Kind::Request, "sets up".to_owned()),
                Some(asked) => (Kind::Request, short::often(short::asked(&asked), row.times)),
                None => (Kind::of(&event.what), short::label(&names, event)),
            };
            row.requests.iter().for_each(|sent| messages.exchange(*sent, step));
            messages.behind(event, step);
            let proves = cited.contains(&event.id);
            let link = chain.contains(&row.position);
            steps.push(Step {
                position: row.position,
                host: row.host,
                kind,
                label,
                text: row.text,
                proves,
                link,
                cause: None,
            });
        }
        let arrows = messages.arrows;
        causes(story, &mut steps, &arrows);
        let overlap = overlap(story, &spans);
        let hosts = hosts(story, &steps, &arrows, overlap);
        Course { story, steps, arrows, spans, hosts, overlap }
    }

    /// Which of the clashing grants this is, the earliest first.
    pub(crate) fn rank(&self, grant: Option<GrantId>) -> Option<usize> {
        let clashing = self.story.leading().map_or(&[][..], |finding| &finding.grants);
        clashing.iter().position(|one| Some(*one) == grant)
    }

    /// The positions at which something stands, in order.
    pub(crate) fn positions(&self) -> BTreeSet<usize> {
        let ends = self.arrows.iter().flat_map(|arrow| [Some(arrow.sent), arrow.arrived]);
        self.steps.iter().map(|step| step.position).chain(ends.flatten()).collect()
    }
}

/// The messages of a run, of which arrows are made.
struct Messages<'a> {
    story: &'a Story,
    exchanges: BTreeMap<usize, &'a Exchange>,
    places: BTreeMap<EventId, usize>,
    drawn: BTreeSet<usize>,
    arrows: Vec<Arrow>,
}

impl<'a> Messages<'a> {
    fn of(story: &'a Story, exchanges: &'a [Exchange]) -> Messages<'a> {
        let places = story.trace.events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let exchanges = exchanges.iter().map(|one| (one.sent, one)).collect();
        Messages { story, exchanges, places, drawn: BTreeSet::new(), arrows: Vec::new() }
    }

    fn asked(&self, sent: usize) -> Option<String> {
        self.exchanges.get(&sent).map(|exchange| exchange.asked.clone())
    }

    /// A request and its answers.
    fn exchange(&mut self, sent: usize, step: usize) {
        let Some(exchange) = self.exchanges.get(&sent).copied() else { return };
        for at in &exchange.positions {
            let event = &self.story.trace.events[*at];
            if matches!(event.what, What::Sent { .. }) {
                let caused = |other: &usize| self.story.trace.events[*other].cause == Some(event.id);
                let arrived = exchange.positions.iter().copied().find(caused);
                let answer = (*at != sent).then(|| self.story.wire.get(&event.id)).flatten();
                let answer = answer.map(|said| short::asked(&exchanges::shortened(said)));
                self.arrow(*at, arrived, answer, step);
            }
        }
    }

    /// The message that brought an event about at once, if it came from elsewhere.
    fn behind(&mut self, event: &Event, step: usize) {
        let arrival = match event.what {
            What::Delivered { .. } => Some(event),
            What::ResourceRead { .. }
            | What::ResourceWritten { .. }
            | What::ResourceTaken { .. }
            | What::ResourceRefused { .. } => {
                let cause = event.cause.and_then(|id| self.places.get(&id));
                let cause = cause.map(|at| &self.story.trace.events[*at]);
                cause.filter(|cause| matches!(cause.what, What::Delivered { .. }))
            }
            _ => None,
        };
        let Some(arrival) = arrival else { return };
        let sent = arrival.cause.and_then(|id| self.places.get(&id)).copied();
        if let (Some(sent), Some(arrived)) = (sent, self.places.get(&arrival.id).copied()) {
            self.arrow(sent, Some(arrived), None, step);
        }
    }

    fn arrow(&mut self, sent: usize, arrived: Option<usize>, answer: Option<String>, step: usize) {
        let events = &self.story.trace.events;
        let What::Sent { peer, .. } = events[sent].what else { return };
        if !self.drawn.insert(sent) {
            return;
        }
        let slowest = self.story.plan.world.latency.max;
        let late = arrived.is_some_and(|at| events[at].at.since(events[sent].at) > slowest);
        let source = events[sent].host;
        self.arrows.push(Arrow { sent, source, arrived, target: peer, late, answer, step });
    }
}

/// Gives each step its cause: the nearest one that is shown.
fn causes(story: &Story, steps: &mut [Step], arrows: &[Arrow]) {
    let events = story.trace.events.as_slice();
    let mut shown: BTreeMap<EventId, usize> = BTreeMap::new();
    for arrow in arrows {
        for at in [Some(arrow.sent), arrow.arrived].into_iter().flatten() {
            shown.insert(events[at].id, arrow.step);
        }
    }
    shown.extend(steps.iter().enumerate().map(|(nth, step)| (events[step.position].id, nth)));
    let causes: BTreeMap<EventId, Option<EventId>> =
        events.iter().map(|event| (event.id, event.cause)).collect();
    for (nth, step) in steps.iter_mut().enumerate() {
        let mut id = events[step.position].cause;
        while let Some(cause) = id {
            match shown.get(&cause) {
                Some(other) if *other != nth => {
                    step.cause = Some(*other);
                    break;
                }
                // An event is later than its cause, so this ends.
                _ => id = causes.get(&cause).copied().flatten(),
            }
        }
    }
}

fn overlap(story: &Story, spans: &[Span]) -> Option<Overlap> {
    let [first, second, ..] = story.leading()?.grants[..] else { return None };
    let (one, two) = (spans::belief(spans, first)?, spans::belief(spans, second)?);
    let end = story.trace.events.len().saturating_sub(1);
    let (first, last) = (one.first.max(two.first), one.last.unwrap_or(end).min(two.last.unwrap_or(end)));
    (first < last).then_some(Overlap { first, last, clients: [one.client, two.client] })
}

fn hosts(story: &Story, steps: &[Step], arrows: &[Arrow], overlap: Option<Overlap>) -> Vec<HostId> {
    let of_arrows = arrows.iter().flat_map(|arrow| [arrow.source, arrow.target]);
    let of_overlap = overlap.into_iter().flat_map(|overlap| overlap.clients);
    let all: BTreeSet<HostId> =
        steps.iter().map(|step| step.host).chain(of_arrows).chain(of_overlap).collect();
    let mut all: Vec<HostId> = all.into_iter().collect();
    all.sort_by_key(|host| {
        let place = match story.trace.role(*host) {
            Some(Role::Client) => 0,
            Some(Role::Proxy | Role::Renewer) => 1,
            Some(Role::Leader) => 2,
            Some(Role::Follower) => 3,
            Some(Role::Monitor) => 4,
            Some(Role::Resource) | None => 5,
        };
        (place, *host)
    });
    all
}
