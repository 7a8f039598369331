//! The chain of causes of one violated invariant, from the faults to its first finding.
//!
//! Causes are those of the trace: an event names the one that made it happen. They are followed back from each event that
//! proves the finding and from the grants that it is about, as far as they concern these grants; what carried messages is
//! left out unless it was held up. A fault, a lease that ran out and a replica that took over have no cause in the trace:
//! they are put in where they belong. The last link is the last event that proves the finding.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::{Breach, Part, Story};
use picklock_judge::history::{History, Record};
use picklock_judge::invariants::{Promise, is_about};
use picklock_judge::outcome::Finding;
use picklock_model::ids::{EventId, GrantId};
use picklock_model::trace::{Event, Role, What};

use super::exchanges::is_late;
use super::paragraph::deciding_stores;
use super::reentries::{self, Count};
use super::relevance::{futile, key};

/// The positions of the chain's links, in order; empty without a finding.
pub(crate) fn chain(story: &Story, breach: &Breach) -> Vec<usize> {
    let Some(finding) = breach.findings.first() else { return Vec::new() };
    let chain = Chain::of(story, breach, finding);
    let mut links: BTreeSet<usize> = chain.cited.iter().filter_map(|id| chain.place(*id)).collect();
    let Some(end) = links.last().copied() else { return Vec::new() };
    let granted = chain.grants.iter().filter_map(|grant| chain.granted(*grant));
    let from: Vec<usize> = links.iter().copied().chain(granted.filter(|at| *at <= end)).collect();
    let mut passed = BTreeSet::new();
    for from in from {
        chain.follow_back(from, &mut links, &mut passed);
    }
    chain.blows(if chain.is_block() { chain.events.len() } else { end }, &mut links);
    // Of a deadline it is cited what freed the lock by then, and what blocks is what was not ended.
    if !is_about(&breach.invariant, Promise::Deadlines) && !chain.is_block() {
        chain.ended_records(end, &mut links);
    }
    chain.touched(&mut links);
    chain.made_way(&mut links);
    chain.turns(&passed, &mut links);
    chain.demotions(end, &mut links);
    // Tries that came to nothing led nowhere, and neither did the end of a record after which nobody was granted.
    let mut idle = futile(chain.events);
    if !chain.is_block() {
        idle.extend(chain.late_ends(&links));
    }
    let cited = |at: &usize| chain.cited.contains(&chain.events[*at].id);
    links.into_iter().filter(|at| cited(at) || !idle.contains(at)).collect()
}

struct Chain<'a> {
    story: &'a Story,
    breach: &'a Breach,
    finding: &'a Finding,
    events: &'a [Event],
    places: BTreeMap<EventId, usize>,
    /// The changes that the arrival of a message led to at once.
    effects: BTreeMap<EventId, Vec<usize>>,
    cited: BTreeSet<EventId>,
    /// The grants that the finding is about, and those of what it cites.
    grants: BTreeSet<GrantId>,
    counts: BTreeMap<EventId, Count>,
    history: History<'a>,
}

impl<'a> Chain<'a> {
    fn of(story: &'a Story, breach: &'a Breach, finding: &'a Finding) -> Chain<'a> {
        let events = story.trace.events.as_slice();
        let places: BTreeMap<EventId, usize> =
            events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let mut effects: BTreeMap<EventId, Vec<usize>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate().filter(|(_, event)| changes(&event.what)) {
            event.cause.into_iter().for_each(|cause| effects.entry(cause).or_default().push(at));
        }
        let of_cited = finding.events.iter().filter_map(|id| places.get(id));
        let of_cited = of_cited.filter_map(|at| events[*at].grant);
        let mut grants: BTreeSet<GrantId> = finding.grants.iter().copied().chain(of_cited).collect();
        // A client that ended a record of one of these has a part in it.
        let history = History::of(&story.trace);
        let until = finding.events.iter().max().copied();
        let ended = history.records.iter().filter_map(|record| Some((record.created.grant?, record.ended?)));
        let ended = ended.filter(|(owner, ended)| grants.contains(owner) && Some(ended.id) <= until);
        let by_others: Vec<GrantId> = ended
            .filter(|(_, ended)| matches!(ended.what, What::Deleted { .. }))
            .filter_map(|(owner, ended)| ended.grant.filter(|by| *by != owner))
            .collect();
        grants.extend(by_others);
        let cited = finding.events.iter().copied().collect();
        Chain {
            story,
            breach,
            finding,
            events,
            places,
            effects,
            cited,
            grants,
            counts: reentries::of(story),
            history,
        }
    }

    /// A block goes on after the last thing that anybody did.
    fn is_block(&self) -> bool {
        is_about(&self.breach.invariant, Promise::Availability)
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

    /// Adds the links on the way, and all events that it passes.
    fn follow_back(&self, from: usize, links: &mut BTreeSet<usize>, passed: &mut BTreeSet<usize>) {
        let mut next = Some(from);
        while let Some(at) = next {
            let event = &self.events[at];
            // Earlier events of the client, in another section, belong to another story.
            if event.grant.is_some_and(|grant| !self.grants.contains(&grant)) {
                return;
            }
            passed.insert(at);
            let cause = event.cause.and_then(|id| self.place(id));
            if is_link(&event.what) || self.was_held(event, cause) {
                links.insert(at);
            }
            // The operation of a store or of the resource on a message is no cause of its answer, and still belongs in the story.
            if matches!(event.what, What::Delivered { .. }) {
                links.extend(self.done_with(event).filter(|done| *done <= from));
            }
            next = cause.filter(|cause| *cause < at);
        }
    }

    /// The records that were changed because a message arrived.
    fn done_with(&self, arrival: &Event) -> impl Iterator<Item = usize> {
        let places = self.effects.get(&arrival.id).into_iter().flatten().copied();
        places.filter(|at| self.events[*at].grant.is_some_and(|grant| self.grants.contains(&grant)))
    }

    /// A message that took longer than the network's slowest.
    fn was_held(&self, event: &Event, cause: Option<usize>) -> bool {
        let late = |sent: usize| is_late(self.story, &self.events[sent], event);
        matches!(event.what, What::Delivered { .. }) && cause.is_some_and(late)
    }

    /// The injections up to the end: those that this invariant is known to need, or else all; none if the only one is known not to matter.
    fn blows(&self, end: usize, links: &mut BTreeSet<usize>) {
        let needed = self.needed();
        if needed.is_empty() && self.happens_without_fault() {
            return;
        }
        for (at, event) in self.events.iter().enumerate().take(end.saturating_add(1)) {
            if let What::Injected { injection, .. } = event.what
                && (needed.is_empty() || needed.contains(&injection))
            {
                links.insert(at);
            }
        }
    }

    /// The injections without which the invariant is kept, if that was tried. Where it was violated more than once, another of its
    /// findings may stay: then also those without which any other one is kept.
    fn needed(&self) -> BTreeSet<u32> {
        let without = self.story.ablation.iter().flat_map(|ablation| &ablation.without);
        let once = self.breach.findings.len() == 1;
        let needed = without.filter_map(|one| {
            let kept = !one.violated.contains(&self.breach.invariant)
                || !once && one.violated.len() < self.story.breaches.len();
            match one.part {
                Part::Injection(index) if kept => Some(index),
                _ => None,
            }
        });
        needed.collect()
    }

    /// True if the only injection was left out, and this invariant was violated still.
    fn happens_without_fault(&self) -> bool {
        let without = self.story.ablation.iter().flat_map(|ablation| &ablation.without);
        let mut tried = without.filter(|one| matches!(one.part, Part::Injection(_)));
        self.story.plan.injections.len() == 1
            && tried.any(|one| one.violated.contains(&self.breach.invariant))
    }

    /// How stores lost what they kept of the finding's grants, other than by the holder's own release: up to the latest of
    /// these grants, or, for one whose client did the last thing to a record that the finding is about, up to that end. And how
    /// the holds of a re-entrant lock were counted there.
    fn ended_records(&self, end: usize, links: &mut BTreeSet<usize>) {
        let latest = self.finding.grants.iter().filter_map(|grant| self.granted(*grant)).max();
        let at_resource = self.story.trace.role(self.events[end].host) == Some(Role::Resource);
        let actor = self.events[end].grant.filter(|_| !at_resource);
        for grant in &self.grants {
            let deciding = deciding_stores(&self.history, &self.grants, *grant);
            let until = if actor == Some(*grant) { end } else { latest.unwrap_or(end).min(end) };
            let Some(section) = self.history.place_of(*grant).map(|at| &self.history.sections[at]) else {
                continue;
            };
            let decides = |record: &&Record<'_>| {
                record.key == section.key && (deciding.is_empty() || deciding.contains(&record.created.host))
            };
            // Of a grant not what earlier tries of its section have left.
            let records: Vec<_> = match &section.grant {
                Some(granted) => self.history.records_of_grant(section, granted).filter(decides).collect(),
                None => self.history.records_of(section).filter(decides).collect(),
            };
            for record in records {
                for counted in self.counted(record).filter(|at| *at <= end) {
                    links.insert(counted);
                    let arrival = self.events[counted].cause.and_then(|id| self.place(id));
                    let held = |at: &usize| {
                        let sent = self.events[*at].cause.and_then(|id| self.place(id));
                        self.was_held(&self.events[*at], sent)
                    };
                    links.extend(arrival.filter(held));
                }
                let by_others = record.ended.filter(|ended| !is_own_doing(record, ended));
                let place = by_others.and_then(|ended| self.place(ended.id)).filter(|at| *at <= until);
                if let Some(ended) = place {
                    links.extend(self.place(record.created.id));
                    links.insert(ended);
                }
            }
        }
    }

    /// The links that end a record after the last grant among the links.
    fn late_ends(&self, links: &BTreeSet<usize>) -> Vec<usize> {
        let grants = |at: &&usize| matches!(self.events[**at].what, What::Acquired { .. });
        let ends =
            |at: &&usize| matches!(self.events[**at].what, What::Deleted { .. } | What::Expired { .. });
        let last = links.iter().rfind(grants).copied();
        last.map_or_else(Vec::new, |last| links.range(last..).filter(ends).copied().collect())
    }

    /// Where a re-entrant lock's holds of a record were counted.
    fn counted(&self, record: &Record<'_>) -> impl Iterator<Item = usize> {
        let of_record = self.history.touches.iter().filter(|touch| {
            self.history.records[touch.record].created.id == record.created.id
                && self.counts.contains_key(&touch.event.id)
        });
        of_record.filter_map(|touch| self.place(touch.event.id))
    }

    /// The records of others that a link changed: it could not have without them.
    fn touched(&self, links: &mut BTreeSet<usize>) {
        for touch in &self.history.touches {
            let record = &self.history.records[touch.record];
            let is_link = self.place(touch.event.id).is_some_and(|at| links.contains(&at));
            if is_link && record.created.grant != touch.event.grant {
                links.extend(self.place(record.created.id));
            }
        }
    }

    /// The leases of others that ran out on a store after the first of the grants, and made way for a later one there.
    fn made_way(&self, links: &mut BTreeSet<usize>) {
        let Some(first) = self.grants.iter().filter_map(|grant| self.granted(*grant)).min() else { return };
        let since = self.events[first].at;
        let made: Vec<&Event> = links.iter().map(|at| &self.events[*at]).collect();
        for made in made.into_iter().filter(|event| matches!(event.what, What::Created { .. })) {
            let of = key(&made.what);
            let before = self.history.records.iter().filter(|record| {
                key(&record.created.what) == of
                    && record.created.host == made.host
                    && record.ended.is_some_and(|ended| ended.id < made.id)
            });
            let Some(last) = before.max_by_key(|record| record.ended.map(|ended| ended.id)) else { continue };
            let ours = last.created.grant.is_some_and(|owner| self.grants.contains(&owner));
            let ran_out = last.ended.filter(|ended| matches!(ended.what, What::Expired { .. }));
            if let Some(ended) = ran_out.filter(|_| !ours && last.over_at.is_some_and(|over| over > since)) {
                links.extend(self.place(ended.id));
            }
        }
    }

    /// The primaries that kept the record of whoever did the last thing and became replicas: that sent it to another store.
    fn demotions(&self, end: usize, links: &mut BTreeSet<usize>) {
        let (Some(actor), here) = (self.events[end].grant, self.events[end].host) else { return };
        if !matches!(self.events[end].what, What::Deleted { .. } | What::Extended { .. }) {
            return;
        }
        let kept = |at: &usize| {
            let event = &self.events[*at];
            event.grant == Some(actor) && event.host != here && matches!(event.what, What::Created { .. })
        };
        let before: BTreeSet<_> = (0..end).filter(kept).map(|at| self.events[at].host).collect();
        let demoted = |at: &usize| {
            self.events[*at].what == What::StoppedLeading && before.contains(&self.events[*at].host)
        };
        links.extend((0..end).filter(demoted));
    }

    /// The replicas that became the primary before something happened there that is a link, or led to one. And where what did so is no
    /// link itself, as with permits: the stores that came back before it.
    fn turns(&self, passed: &BTreeSet<usize>, links: &mut BTreeSet<usize>) {
        let later = |among: &BTreeSet<usize>, at: usize| {
            among.range(at..).any(|later| self.events[*later].host == self.events[at].host)
        };
        let turned = |at: &usize| match self.events[*at].what {
            What::BecameLeader => later(links, *at) || later(passed, *at),
            What::Restarted => later(passed, *at) && !later(links, *at),
            _ => false,
        };
        let turned: Vec<usize> = (0..self.events.len()).filter(turned).collect();
        links.extend(turned);
    }
}

/// True if a record was ended by the section that had made it.
fn is_own_doing(record: &Record<'_>, ended: &Event) -> bool {
    ended.grant == record.created.grant
        && matches!(ended.what, What::Deleted { .. } | What::Created { .. })
        && ended.host == record.created.host
}

/// True if an event is a change of a record or of the resource.
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

/// True if an event is a link of its own: what carries messages, what only notes a wait or an answer, and what keeps the books of
/// a fault, are not.
fn is_link(what: &What) -> bool {
    !matches!(
        what,
        What::Sent { .. }
            | What::Delivered { .. }
            | What::Connecting { .. }
            | What::Waiting { .. }
            | What::Shares { .. }
            | What::WriteAcknowledged { .. }
            | What::TookEffect { .. }
            | What::Healed { .. }
            | What::Asked { .. }
            | What::Printed { .. }
    )
}
