//! The chain of causes from the faults to the violation.
//!
//! Causes are those of the trace: an event names the one that made it happen. They are followed back from the last event
//! that proves the finding and from the later grant, as far as they concern the grants of the finding; what carried
//! messages is left out unless it was held up. A fault, and a lease that ran out, have no cause in the trace: the one is what all
//! begins with, the other is time, so both are put in where they belong.

use std::collections::{BTreeMap, BTreeSet};

use picklock_scenarios::story::{Part, Story};
use picklock_sim::ids::{EventId, GrantId};
use picklock_sim::trace::{Event, What};

use crate::relevance::{creator, futile};

/// The positions of the chain's links, in order; empty without a finding.
pub(crate) fn chain(story: &Story) -> Vec<usize> {
    let Some(finding) = story.leading() else { return Vec::new() };
    let chain = Chain::of(story, &finding.grants, &finding.events);
    let mut links: BTreeSet<usize> = chain.cited.iter().filter_map(|id| chain.place(*id)).collect();
    let Some(last) = links.last().copied() else { return Vec::new() };
    let granted = finding.grants.iter().filter_map(|grant| chain.granted(*grant));
    for from in granted.chain(finding.events.last().and_then(|id| chain.place(*id))) {
        chain.follow_back(from, &mut links);
    }
    chain.blows(last, &mut links);
    chain.forgotten(&finding.grants, last, &mut links);
    // Tries that came to nothing led nowhere.
    let futile = futile(chain.events);
    let cited = |at: &usize| chain.cited.contains(&chain.events[*at].id);
    links.into_iter().filter(|at| cited(at) || !futile.contains(at)).collect()
}

struct Chain<'a> {
    story: &'a Story,
    events: &'a [Event],
    places: BTreeMap<EventId, usize>,
    /// The changes that the arrival of a message led to at once.
    effects: BTreeMap<EventId, Vec<usize>>,
    cited: BTreeSet<EventId>,
    /// The grants that the finding is about, and those of what it cites.
    grants: BTreeSet<GrantId>,
}

impl<'a> Chain<'a> {
    fn of(story: &'a Story, grants: &[GrantId], cited: &[EventId]) -> Chain<'a> {
        let events = story.trace.events.as_slice();
        let places: BTreeMap<EventId, usize> =
            events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let mut effects: BTreeMap<EventId, Vec<usize>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate().filter(|(_, event)| changes(&event.what)) {
            event.cause.into_iter().for_each(|cause| effects.entry(cause).or_default().push(at));
        }
        let of_cited = cited.iter().filter_map(|id| places.get(id)).filter_map(|at| events[*at].grant);
        let grants = grants.iter().copied().chain(of_cited).collect();
        Chain { story, events, places, effects, cited: cited.iter().copied().collect(), grants }
    }

    fn place(&self, id: EventId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// Where the client saw the grant.
    fn granted(&self, grant: GrantId) -> Option<usize> {
        let acquired =
            |event: &Event| event.grant == Some(grant) && matches!(event.what, What::Acquired { .. });
        self.events.iter().position(acquired)
    }

    fn follow_back(&self, from: usize, links: &mut BTreeSet<usize>) {
        let mut next = Some(from);
        while let Some(at) = next {
            let event = &self.events[at];
            // What the client did before, in another section, is another story.
            if event.grant.is_some_and(|grant| !self.grants.contains(&grant)) {
                return;
            }
            let cause = event.cause.and_then(|id| self.place(id));
            if tells(&event.what) || self.was_held(event, cause) {
                links.insert(at);
            }
            // What a store or the resource did with a message is no cause of its answer, and the point of it.
            if matches!(event.what, What::Delivered { .. }) {
                links.extend(self.done_with(event));
            }
            next = cause.filter(|cause| *cause < at);
        }
    }

    /// What was changed because a message arrived.
    fn done_with(&self, arrival: &Event) -> impl Iterator<Item = usize> {
        let places = self.effects.get(&arrival.id).into_iter().flatten().copied();
        places.filter(|at| self.events[*at].grant.is_some_and(|grant| self.grants.contains(&grant)))
    }

    /// A message that took longer than the network's slowest.
    fn was_held(&self, event: &Event, cause: Option<usize>) -> bool {
        let slowest = self.story.plan.world.latency.max;
        let late = |sent: usize| event.at.since(self.events[sent].at) > slowest;
        matches!(event.what, What::Delivered { .. }) && cause.is_some_and(late)
    }

    /// What was injected, and that it made a difference: what is known to have been needed, or else all before the end.
    fn blows(&self, end: usize, links: &mut BTreeSet<usize>) {
        let needed = needed(self.story);
        let ours = |injection: u32| needed.is_empty() || needed.contains(&injection);
        let mut bitten = BTreeSet::new();
        let until = if needed.is_empty() { end + 1 } else { self.events.len() };
        for (at, event) in self.events.iter().enumerate().take(until) {
            let told = match event.what {
                What::Injected { injection, .. } => ours(injection),
                What::Bit { injection } => ours(injection) && bitten.insert(injection),
                _ => false,
            };
            if told {
                links.insert(at);
            }
        }
    }

    /// What stores forgot of the earlier grant before the later one was seen.
    fn forgotten(&self, grants: &[GrantId], end: usize, links: &mut BTreeSet<usize>) {
        let [first, second, ..] = grants else { return };
        let from = self.events.iter().position(|event| {
            event.grant == Some(*first) && matches!(event.what, What::Created { .. } | What::Acquired { .. })
        });
        let Some(from) = from else { return };
        let until = self.granted(*second).unwrap_or(end);
        for (at, event) in self.events.iter().enumerate().take(until).skip(from) {
            let gone = match event.what {
                What::Expired { .. } | What::Lost { .. } => true,
                What::Deleted { .. } => event.grant.is_some_and(|grant| grant != *first),
                _ => false,
            };
            if gone && creator(self.events, at) == Some(*first) {
                links.insert(at);
            }
        }
    }
}

/// The injections without which nothing is violated, if that was tried.
fn needed(story: &Story) -> BTreeSet<u32> {
    let without = story.trials.iter().flat_map(|trials| &trials.without);
    let needed = without.filter_map(|one| match one.part {
        Part::Injection(index) if one.violated.is_empty() => Some(index),
        _ => None,
    });
    needed.collect()
}

/// Whether an event is a change of a record or of the resource.
fn changes(what: &What) -> bool {
    matches!(
        what,
        What::Created { .. }
            | What::Deleted { .. }
            | What::ResourceWritten { .. }
            | What::ResourceTaken { .. }
            | What::ResourceRefused { .. }
    )
}

/// Whether an event is a link of its own: what carries messages and what only notes a wait are not.
fn tells(what: &What) -> bool {
    !matches!(
        what,
        What::Sent { .. } | What::Delivered { .. } | What::Connecting { .. } | What::Waiting { .. }
    )
}
