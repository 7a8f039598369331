//! The pass over a trace that derives its [`History`].
//!
//! A campaign judges every run, so the pass allocates little and nothing for a single event; what an event belongs to
//! is found in a map, so that a run of many clients, sections or keys costs no more for each event than a short one.
//! Events that contradict the life of a section or a record, as in a damaged trace, are passed over: the first of two
//! wins.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::{GrantId, HostId, Key, Token};
use picklock_model::time::TrueTime;
use picklock_model::trace::Belief;
use picklock_model::trace::{Event, Role, Trace, What};

use super::names::{self, RecordNames};
use super::parts::{Answer, Discarded, Granted, History, Operation, OperationKind, Record, Section, Touch};
use super::sessions::SessionKeys;

impl<'t> History<'t> {
    /// Derives the history of a trace.
    #[must_use]
    pub fn of(trace: &'t Trace) -> History<'t> {
        let history = Pass::over(trace, RecordNames::default(), true).into_history();
        let knows_tasks = !history.has_tasks();
        let names = match history.granted.is_empty() || history.knows_records() {
            true => RecordNames::default(),
            false => names::of(&history),
        };
        if names.locks.is_empty() && knows_tasks {
            return history;
        }
        Pass::over(trace, names, knows_tasks).into_history()
    }
}

/// The state of the pass.
struct Pass<'t> {
    history: History<'t>,
    /// The state of each host, by its number.
    host_states: Vec<HostState>,
    /// The indices of the keys.
    keys: BTreeMap<&'t Key, usize>,
    /// The keys by the names of their records, where these are others.
    names: BTreeMap<&'t Key, &'t Key>,
    /// False if a record that is reported as made for a section may be that of another task of its client.
    knows_tasks: bool,
    /// Where registers lie that were restored, by the event that says so.
    homes: BTreeMap<usize, &'t Event>,
    /// The members that came to lead their groups, by the last event that says so.
    took_over: BTreeMap<(u32, u32), &'t Event>,
    /// Indices of the records that have not ended, by key and host; by the first key of those that share a record.
    live: BTreeMap<(usize, HostId), usize>,
    /// The creations of the grant at hand, kept to reuse the allocation.
    creations: Vec<Creation>,
    /// The keys of sessions, where records count as long as these.
    sessions: SessionKeys<'t>,
    /// The section that was last asked for: an event is mostly of the same one as the event before it.
    last: Option<(GrantId, usize)>,
}

/// The state of a host: if it takes writes, and if it runs.
#[derive(Clone, Copy)]
struct HostState {
    takes_writes: bool,
    runs: bool,
    /// When it last came up, or the clock by which it counts leases was moved: nothing ran out in the time before that by what this clock says now.
    jumped: TrueTime,
}

/// A creation by the grant at hand.
struct Creation {
    at: TrueTime,
    host: HostId,
    withdrawn: bool,
}

impl<'t> Pass<'t> {
    fn over(trace: &'t Trace, names: RecordNames<'t>, knows_tasks: bool) -> Pass<'t> {
        let initial =
            |role| HostState { takes_writes: role == Role::Leader, runs: true, jumped: TrueTime::default() };
        let mut pass = Pass {
            history: History {
                trace,
                keys: Vec::new(),
                sections: Vec::with_capacity(32),
                named: BTreeMap::new(),
                granted: Vec::new(),
                records: Vec::with_capacity(64),
                touches: Vec::with_capacity(64),
                heartbeats: Vec::new(),
                operations: Vec::with_capacity(64),
                discarded: Vec::new(),
                answers: Vec::with_capacity(32),
                host_changes: Vec::new(),
                disruptions: Vec::new(),
                walls: BTreeMap::new(),
                takes_up: trace.takes_up || names.taken_up,
                shared: names.shared,
            },
            host_states: trace.hosts.iter().map(|host| initial(host.role)).collect(),
            keys: BTreeMap::new(),
            names: names.locks,
            knows_tasks,
            homes: BTreeMap::new(),
            took_over: BTreeMap::new(),
            live: BTreeMap::new(),
            creations: Vec::new(),
            sessions: SessionKeys::default(),
            last: None,
        };
        for event in &trace.events {
            pass.take(event);
        }
        pass
    }

    fn take(&mut self, event: &'t Event) {
        match &event.what {
            What::Waiting { key, shared } => {
                if let Some(section) = self.section(event, key) {
                    section.asked.get_or_insert(event);
                    section.asks_to_share = *shared;
                }
            }
            What::Shares { key } => {
                if let Some(section) = self.section(event, key) {
                    section.shares = true;
                }
            }
            What::Acquired { key, owner, token, deadline } => {
                self.acquired(event, key, owner, *token, *deadline)
            }
            What::NotAcquired { key, .. } => {
                if let Some(section) = self.section(event, key) {
                    section.answered.get_or_insert(event);
                }
            }
            What::DeadlinePassed { key }
            | What::Aborted { key }
            | What::Releasing { key }
            | What::Released { key, .. } => {
                self.ending(event, key);
                self.stepped(event);
            }
            What::Reentered { .. }
            | What::NotReentered { .. }
            | What::Left { .. }
            | What::Renewed { .. }
            | What::RenewalDenied { .. } => self.stepped(event),

            What::Created { key } => self.created(event, key),
            What::Extended { key } => self.touched(event, key, false),
            What::Deleted { key } => self.touched(event, key, true),
            What::Expired { key, .. } | What::Lost { key } => self.vanished(event, key),
            What::ClockStepped { by_ns } if self.history.steps_leases(event.host) => {
                self.update(event.host, |state| state.jumped = event.at);
                self.history.walls.entry(event.host).or_default().step(event.at, *by_ns);
            }
            What::DriftSet { ppm } => {
                self.history.walls.entry(event.host).or_default().drift(event.at, *ppm);
            }
            What::BecameLeader => {
                self.turned(event, true);
                self.took_over(event);
            }
            What::StoppedLeading => self.turned(event, false),
            What::Delivered { .. } => self.delivered(event),

            What::ResourceRead { key, token, .. } => self.operated(event, key, *token, OperationKind::Read),
            What::ResourceWritten { key, value, token } => {
                self.operated(event, key, *token, OperationKind::Write(*value))
            }
            What::ResourceRestored { key, value } => self.restored(event, key, Some(*value)),
            What::ResourceTaken { key, amount, left, taken } => {
                self.operated(
                    event,
                    key,
                    None,
                    OperationKind::Take { amount: *amount, left: *left, taken: *taken },
                );
            }
            What::ResourceRefused { key, .. } => {
                let standing = self.still_kept(event.grant, key);
                self.operated(event, key, None, OperationKind::Refused { standing });
            }
            What::WriteAcknowledged { key } | What::WriteUnknown { key } | What::WriteRefused { key } => {
                let section = self.section_at(event, key);
                // Without a lock, what a section waits for is its change.
                if let Some(section) = section.filter(|_| self.history.trace.belief == Belief::None) {
                    self.history.sections[section].answered.get_or_insert(event);
                }
                let key = self.key(key);
                self.history.answers.push(Answer { event, section, key });
            }

            What::Crashed { .. } => self.crashed(event),
            What::ConnectionsForgotten { .. } => self.history.host_changes.push(event),
            What::Restarted => {
                self.update(event.host, |state| {
                    state.runs = true;
                    state.jumped = event.at;
                });
                self.history.disruptions.push(event);
            }
            What::Injected { .. } | What::Healed { .. } => self.history.disruptions.push(event),
            _ => {}
        }
    }

    fn into_history(self) -> History<'t> {
        let mut history = self.history;
        for record in history.records.iter_mut().filter(|record| record.ended.is_none()) {
            if let Some((event, over_at)) = record.lapsed {
                record.end(event, over_at);
            }
        }
        let sections = &mut history.sections;
        // Two grants executed in the same nanosecond, or without a store, are ordered by who saw its grant first.
        let order = |section: &Section<'_>| {
            section.grant.as_ref().map(|grant| (grant.granted_at, grant.acquired.at, grant.acquired.id))
        };
        history.granted = (0..sections.len()).filter(|at| sections[*at].grant.is_some()).collect();
        history.granted.sort_unstable_by_key(|at| order(&sections[*at]));
        for (rank, at) in history.granted.iter().enumerate() {
            if let Some(grant) = &mut sections[*at].grant {
                grant.rank = rank;
            }
        }
        history
    }

    /// The index of a key, which is new if no section has named it before.
    fn key(&mut self, key: &'t Key) -> usize {
        *self.keys.entry(key).or_insert_with(|| {
            self.history.keys.push(key);
            self.history.keys.len() - 1
        })
    }

    /// The index of the lock that a record is of.
    fn known_key(&self, record: &Key) -> Option<usize> {
        self.keys.get(self.names.get(record).copied().unwrap_or(record)).copied()
    }

    /// The index of the section that an event belongs to, which is new if the event is its first.
    fn section_at(&mut self, event: &Event, key: &'t Key) -> Option<usize> {
        let id = event.grant?;
        if let Some(known) = self.known(id) {
            return Some(known);
        }
        let key = self.key(key);
        let new = self.history.sections.len();
        self.history.sections.push(Section::new(id, key));
        self.history.named.insert(id, new);
        Some(new)
    }

    /// The section that an event belongs to, if one of its own events came before.
    fn known_section(&mut self, event: &Event) -> Option<&mut Section<'t>> {
        let at = self.known(event.grant?)?;
        Some(&mut self.history.sections[at])
    }

    fn known(&mut self, id: GrantId) -> Option<usize> {
        if let Some((_, at)) = self.last.filter(|(last, _)| *last == id) {
            return Some(at);
        }
        let at = *self.history.named.get(&id)?;
        self.last = Some((id, at));
        Some(at)
    }

    fn section(&mut self, event: &Event, key: &'t Key) -> Option<&mut Section<'t>> {
        let at = self.section_at(event, key)?;
        Some(&mut self.history.sections[at])
    }

    fn acquired(
        &mut self,
        event: &'t Event,
        key: &'t Key,
        owner: &'t str,
        token: Option<Token>,
        deadline: Option<TrueTime>,
    ) {
        let Some(at) = self.section_at(event, key) else { return };
        let (earliest, granted_at) = self.granted_between(at, event);
        let trace = self.history.trace;
        let heeds_deadline = matches!(trace.belief, Belief::Trusting | Belief::Honest);
        let stillborn = heeds_deadline && deadline.is_some_and(|deadline| deadline <= event.at);
        let section = &mut self.history.sections[at];
        section.answered.get_or_insert(event);
        section.grant.get_or_insert(Granted {
            acquired: event,
            owner,
            token,
            shared: section.shares,
            granted_at,
            earliest,
            rank: 0,
            believed_until: if stillborn { event.at } else { trace.end.max(event.at) },
            belief_end: stillborn.then_some(event),
            let_go: None,
        });
    }

    /// Between which instants the store executed the request of a grant that the client has just seen: one and the same where
    /// the stores reported it.
    ///
    /// A client may have tried several times: what came before the last attempt does not count, nor, of a lock that does not
    /// say when it tries, but the last creation on each host, and not if the grant itself has
    /// deleted that record again, because then the attempt was given up. One store and its replicas take each
    /// other's place, so with a quorum of one the last creation of all is the one that was granted. Of clients with several
    /// tasks no creation counts: it may be another task's.
    fn granted_between(&mut self, section: usize, acquired: &Event) -> (TrueTime, TrueTime) {
        let Section { id, key, asked, .. } = self.history.sections[section];
        let since = asked.map_or_else(|| self.answered_before(id), |event| event.at);
        // The bound takes in all attempts: where a server is silent, a request of an earlier one may have done it.
        let attempted = since.max(self.history.attempt_at(&self.history.sections[section], acquired.at).from);
        self.creations.clear();
        let records =
            self.history.sections[section].records.iter().rev().map(|at| &self.history.records[*at]);
        for record in records.take_while(|record| record.created.at >= attempted) {
            let Event { at, host, .. } = *record.created;
            let own = self.knows_tasks && record.key == key && record.on_store;
            if own && !self.creations.iter().any(|later| later.host == host) {
                self.creations.push(Creation { at, host, withdrawn: record.deleted_by(id) });
            }
        }
        self.creations.retain(|creation| !creation.withdrawn);
        self.creations.sort_unstable_by_key(|creation| creation.at);
        let granted = match self.history.trace.quorum as usize {
            0 => None,
            1 => self.creations.last(),
            quorum => self.creations.get(quorum - 1),
        };
        match granted {
            Some(creation) => (creation.at, creation.at),
            None => (since, self.heard_by(acquired, since)),
        }
    }

    /// When the task had what it asked for before: where nothing says when a section asked, it was no earlier.
    fn answered_before(&self, id: GrantId) -> TrueTime {
        let earlier = GrantId { section: 0, ..id }..id;
        let earlier = self.history.named.range(earlier).filter(|(other, _)| other.task == id.task);
        let answered = earlier.rev().find_map(|(_, at)| self.history.sections[*at].answered);
        answered.map_or(TrueTime::default(), |event| event.at)
    }

    /// When the last message was sent that a client had got by the time that it saw its grant: what it learned had
    /// happened by then. The instant itself if it got none since it asked.
    fn heard_by(&self, acquired: &Event, since: TrueTime) -> TrueTime {
        let events = &self.history.trace.events;
        let until = events.partition_point(|event| (event.at, event.id) < (acquired.at, acquired.id));
        let heard = events[..until].iter().rev().take_while(|event| event.at >= since);
        let heard =
            heard.filter(|event| event.host == acquired.host && matches!(event.what, What::Delivered { .. }));
        let sent = heard.filter_map(|event| {
            let cause = event.cause?;
            let at = events.partition_point(|event| event.id < cause);
            events.get(at).filter(|sent| sent.id == cause && matches!(sent.what, What::Sent { .. }))
        });
        sent.map(|sent| sent.at).max().map_or(acquired.at, |sent| sent.clamp(since, acquired.at))
    }

    /// An event by which a belief, or the whole section, may end.
    fn ending(&mut self, event: &'t Event, key: &'t Key) {
        let heeds_deadline = matches!(self.history.trace.belief, Belief::Trusting | Belief::Honest);
        let Some(grant) = self.section(event, key).and_then(|section| section.grant.as_mut()) else { return };
        match &event.what {
            What::DeadlinePassed { .. } if !heeds_deadline => return,
            What::Aborted { .. } | What::Released { .. } => grant.let_go = grant.let_go.or(Some(event)),
            // A section that was given up and is released after all is over when the release returns.
            What::Releasing { .. } => grant.let_go = None,
            _ => {}
        }
        grant.stop_believing(event);
    }

    /// Something that the client of a section noted of it.
    fn stepped(&mut self, event: &'t Event) {
        if let Some(section) = self.known_section(event)
            && section.id.client == event.host
        {
            section.steps.push(event);
        }
    }

    fn crashed(&mut self, event: &'t Event) {
        self.update(event.host, |state| state.runs = false);
        self.history.disruptions.push(event);
        self.history.host_changes.push(event);
        let last = GrantId { task: u32::MAX, ..GrantId::new(event.host, u32::MAX) };
        for at in self.history.named.range(GrantId::new(event.host, 0)..=last).map(|(_, at)| *at) {
            let section = &mut self.history.sections[at];
            section.answered.get_or_insert(event);
            if let Some(grant) = &mut section.grant {
                grant.let_go.get_or_insert(event);
                grant.stop_believing(event);
            }
        }
    }

    fn turned(&mut self, event: &'t Event, takes_writes: bool) {
        self.update(event.host, |state| state.takes_writes = takes_writes);
        self.history.host_changes.push(event);
    }

    fn delivered(&mut self, event: &'t Event) {
        if !matches!(self.history.trace.role(event.host), Some(Role::Leader | Role::Follower)) {
            return;
        }
        let Some(at) = event.grant.and_then(|id| self.known(id)) else { return };
        let section = &self.history.sections[at];
        // What its client sends in the background after that, as the renewals of a session, is no part of the section.
        let over = section.answered.map(|answered| answered.at);
        if over.is_none_or(|over| self.history.sent_at(event, section) <= over) {
            self.history.sections[at].delivered = Some(event);
        }
    }

    fn update(&mut self, host: HostId, change: impl FnOnce(&mut HostState)) {
        if let Some(state) = self.host_states.get_mut(usize::from(host.0)) {
            change(state);
        }
    }

    fn takes_writes(&self, host: HostId) -> bool {
        self.host_states.get(usize::from(host.0)).is_some_and(|state| state.takes_writes)
    }

    fn created(&mut self, event: &'t Event, key: &'t Key) {
        self.touched(event, key, true);
        let Some(place) = self.known_key(key) else { return self.session_kept(event, key) };
        let on_store = self.takes_writes(event.host);
        let record = self.history.records.len();
        self.live.insert((place, event.host), record);
        let mut key = place;
        if let Some(section) = self.known_section(event) {
            section.records.push(record);
            let asked = section.key;
            key = if self.history.shared_by(place, asked).is_some() { asked } else { place };
        }
        let session = self.history.trace.sessions.then(|| self.sessions.of(event)).flatten();
        let (ended, over_at, lapsed) = (None, None, None);
        self.history.records.push(Record { key, created: event, on_store, ended, over_at, session, lapsed });
    }

    fn touched(&mut self, event: &'t Event, key: &'t Key, ends: bool) {
        let Some(place) = self.known_key(key).map(|key| (key, event.host)) else {
            return if ends {
                self.session_over(event, key, event.at)
            } else {
                self.session_kept(event, key)
            };
        };
        let Some(record) = self.live.get(&place).copied() else { return };
        let Record { lapsed, created, .. } = self.history.records[record];
        let taken_over =
            lapsed.filter(|_| created.grant != event.grant && matches!(event.what, What::Created { .. }));
        if taken_over.is_none() && self.takes_writes(event.host) {
            self.history.touches.push(Touch { record, event });
        }
        if ends {
            let (ended, _) = taken_over.unwrap_or((event, event.at));
            self.history.records[record].end(ended, lapsed.map_or(event.at, |(_, over_at)| over_at));
            self.live.remove(&place);
        }
    }

    /// A request has set or extended a key that is no lock's.
    fn session_kept(&mut self, event: &'t Event, key: &'t Key) {
        if self.history.trace.sessions {
            if self.sessions.has(key) && self.takes_writes(event.host) {
                self.history.heartbeats.push(event);
            }
            self.sessions.kept(event, key);
            let revived = matches!(event.what, What::Created { .. });
            self.of_session(event.host, key).filter(|_| revived).for_each(|record| record.lapsed = None);
        }
    }

    /// A key that is no lock's is gone: records that count as long as it are nobody's any more.
    fn session_over(&mut self, event: &'t Event, key: &'t Key, over_at: TrueTime) {
        if self.history.trace.sessions {
            self.of_session(event.host, key).for_each(|record| record.lapsed = Some((event, over_at)));
        }
    }

    /// The records on a host that are there and count as long as this key.
    fn of_session(&mut self, host: HostId, key: &'t Key) -> impl Iterator<Item = &mut Record<'t>> {
        let records = self.history.records.iter_mut().filter(move |record| record.created.host == host);
        records.filter(move |record| record.ended.is_none() && record.session == Some(key))
    }

    fn vanished(&mut self, event: &'t Event, key: &'t Key) {
        // A store that is down grants nothing, whatever runs out meanwhile.
        let state = self.host_states.get(usize::from(event.host.0));
        let jumped = state.map_or(event.at, |state| state.jumped);
        let over_at = self.history.ran_out(event).max(jumped.min(event.at));
        match self.known_key(key) {
            None => self.session_over(event, key, over_at),
            Some(key) => {
                if let Some(record) = self.live.remove(&(key, event.host)) {
                    self.history.records[record].end(event, over_at);
                }
            }
        }
    }

    /// On how many running stores the record that a grant created is still alive.
    fn still_kept(&self, grant: Option<GrantId>, key: &Key) -> u32 {
        let grant = grant.filter(|_| self.knows_tasks);
        let (Some(grant), Some(key)) = (grant, self.known_key(key)) else { return 0 };
        let kept = |((_, host), record): &(&(usize, HostId), &usize)| {
            let state = self.host_states.get(usize::from(host.0));
            self.history.records[**record].created.grant == Some(grant)
                && state.is_some_and(|state| state.takes_writes && state.runs)
        };
        let of_key = (key, HostId(0))..=(key, HostId(u16::MAX));
        self.live.range(of_key).filter(kept).count() as u32
    }

    fn operated(&mut self, event: &'t Event, key: &'t Key, token: Option<Token>, kind: OperationKind) {
        let section = self.section_at(event, key);
        let key = self.key(key);
        let operation = Operation { event, section, key, token, kind };
        match self.discarding(key, event.host) {
            Some(by) => self.history.discarded.push(Discarded { operation, by }),
            None => self.history.operations.push(operation),
        }
    }

    /// A register goes on from a value that it had before. What was done after the last write of that value is discarded, and so is what any
    /// other host does from now on.
    fn restored(&mut self, event: &'t Event, key: &'t Key, value: Option<i64>) {
        let key = self.key(key);
        let trace = self.history.trace;
        let group = group_of(trace, event.host);
        // An old primary that comes back with less than it had is not what counts.
        let led = group.and_then(|group| self.took_over.get(&group));
        if self.takes_writes(event.host) && led.is_some_and(|by| by.host != event.host) {
            return;
        }
        let operations = &mut self.history.operations;
        // What a resource elsewhere has does not depend on stores.
        let is_here = |one: &Operation<'_>| one.key == key && group_of(trace, one.event.host) == group;
        let last = |fits: &dyn Fn(i64) -> bool| {
            let fits = |one: &Operation<'_>| {
                is_here(one) && matches!(one.kind, OperationKind::Write(is) if fits(is))
            };
            operations.iter().rposition(fits)
        };
        // A primary that died before its standby confirmed a commit has not shown that to anybody: then what it was built on is the last.
        let kept = value.and_then(|value| last(&|is| is == value).or_else(|| last(&|is| is < value)));
        // Without one it is as it was in the beginning: reads before the first write have seen that.
        let is_write = |one: &Operation<'_>| is_here(one) && matches!(one.kind, OperationKind::Write(_));
        let first = || operations.iter().position(is_write).unwrap_or(operations.len());
        let from = kept.map_or_else(first, |at| at + 1);
        let lost = operations.extract_if(from.., |one| is_here(one));
        self.history.discarded.extend(lost.map(|operation| Discarded { operation, by: event }));
        self.homes.insert(key, event);
    }

    /// A member leads its group from now on: registers that lay in the group and that it does not have are lost.
    fn took_over(&mut self, event: &'t Event) {
        let trace = self.history.trace;
        let Some(group) = group_of(trace, event.host) else { return };
        self.took_over.insert(group, event);
        let elsewhere = |one: &&Operation<'_>| {
            one.event.host != event.host && group_of(trace, one.event.host) == Some(group)
        };
        let keys: BTreeSet<usize> =
            self.history.operations.iter().filter(elsewhere).map(|one| one.key).collect();
        for key in keys {
            if self.homes.get(&key).is_none_or(|by| by.host != event.host) {
                self.restored(event, self.history.keys[key], None);
            }
        }
    }

    /// The event by which an operation at this host is in no history that counts.
    fn discarding(&self, key: usize, host: HostId) -> Option<&'t Event> {
        let group = group_of(self.history.trace, host)?;
        let by = self.homes.get(&key).or_else(|| self.took_over.get(&group))?;
        (by.host != host).then_some(by)
    }
}

/// The group of a member that keeps data.
fn group_of(trace: &Trace, host: HostId) -> Option<(u32, u32)> {
    let info = trace.hosts.get(usize::from(host.0))?;
    matches!(info.role, Role::Leader | Role::Follower).then_some((info.store, info.group))
}

impl<'t> Section<'t> {
    fn new(id: GrantId, key: usize) -> Section<'t> {
        Section {
            id,
            key,
            asked: None,
            answered: None,
            grant: None,
            steps: Vec::new(),
            records: Vec::new(),
            delivered: None,
            asks_to_share: false,
            shares: false,
        }
    }
}

impl<'t> Granted<'t> {
    /// Ends the belief, unless it has ended before.
    fn stop_believing(&mut self, event: &'t Event) {
        if self.belief_end.is_none() {
            self.belief_end = Some(event);
            self.believed_until = event.at;
        }
    }
}

impl Record<'_> {
    fn deleted_by(&self, grant: GrantId) -> bool {
        self.ended
            .is_some_and(|event| matches!(event.what, What::Deleted { .. }) && event.grant == Some(grant))
    }
}
