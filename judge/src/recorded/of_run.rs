//! A run as a history: what its clients, stores and resource would have noted, had all clocks been right.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::{EventId, GrantId, HostId, Key, Token};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Belief, Exclusion};
use picklock_model::trace::{Event, Role, Trace, What};

use super::line::{Ending, Line, Operation};
use crate::history::{History, Touch};
use crate::invariants::ownership::programs;

/// The lines of a run, in true-time order. Their clocks are right to the nanosecond, and a change begins and ends at the instant at
/// which its client learned what became of it.
#[must_use]
pub fn of_run(trace: &Trace) -> Vec<Line<'_>> {
    let history = History::of(trace);
    let (ended, unowned) = (ended(&history), unowned(&history));
    let mut writer = Writer {
        trace,
        lines: vec![settings(trace)],
        ended,
        unowned,
        answered: BTreeSet::new(),
        releasing: BTreeSet::new(),
        history: &history,
    };
    for info in trace.hosts.iter().filter(|info| !keeps_nothing(info.role)) {
        writer.lines.push(Line {
            host: Some(Cow::Borrowed(&info.name)),
            ending: Some(Ending::Info),
            operation: Some(Operation::Host),
            role: Some(info.role),
            uncertainty: Some(0),
            ..Line::default()
        });
    }
    for event in &trace.events {
        writer.write(event);
    }
    let held = history.grants().filter(|(_, grant)| grant.belief_end.is_none());
    for (section, _) in held {
        let key = history.keys[section.key];
        writer.add(trace.end, section.id.client, Operation::Hold, Ending::Info, key, Some(section.id));
    }
    writer.lines
}

fn settings(trace: &Trace) -> Line<'static> {
    let holders = match trace.exclusion {
        Exclusion::Holders(most) => most,
        _ => 1,
    };
    Line {
        history: Some(1),
        quorum: Some(trace.quorum),
        holders: Some(holders),
        sharing: Some(trace.exclusion == Exclusion::Modes),
        reentrant: Some(trace.reentrant),
        ..Line::default()
    }
}

/// The events by which beliefs ended, with their grants.
fn ended(history: &History<'_>) -> BTreeMap<EventId, GrantId> {
    let ends = history.grants().filter_map(|(section, grant)| Some((grant.belief_end?.id, section.id)));
    ends.collect()
}

/// The events of stores that changed a record in nobody's name. The sender is not known where tasks share a connection, and a request
/// that the library of a program sends for an earlier section is that of its client.
fn unowned(history: &History<'_>) -> BTreeSet<EventId> {
    let programs = programs(history);
    let own = |touch: &&Touch<'_>| {
        let creator = history.records[touch.record].created.grant.map(|grant| grant.client);
        let toucher = touch.event.grant.map(|grant| grant.client);
        !history.knows_origins()
            || (creator == toucher && toucher.is_some_and(|client| programs.contains(&client)))
    };
    history.touches.iter().filter(own).map(|touch| touch.event.id).collect()
}

struct Writer<'t, 'h> {
    trace: &'t Trace,
    history: &'h History<'t>,
    lines: Vec<Line<'t>>,
    ended: BTreeMap<EventId, GrantId>,
    unowned: BTreeSet<EventId>,
    answered: BTreeSet<GrantId>,
    /// The tasks whose release has begun and not ended.
    releasing: BTreeSet<(HostId, u32)>,
}

impl<'t> Writer<'t, '_> {
    fn write(&mut self, event: &'t Event) {
        let role = self.trace.role(event.host);
        let holds = self.trace.belief != Belief::None;
        match &event.what {
            What::Waiting { key, .. } if holds => self.begin(event, Operation::Acquire, key),
            What::Waiting { key, .. } => self.begin(event, Operation::Change, key),
            What::Acquired { key, owner, token, .. } if holds => {
                let shared = event.grant.and_then(|id| self.history.place_of(id)).is_some_and(|at| {
                    self.history.sections[at].grant.as_ref().is_some_and(|grant| grant.shared)
                });
                self.end(event, Operation::Acquire, Ending::Ok, key, None);
                if let Some(line) = self.lines.last_mut() {
                    line.owner = Some(Cow::Borrowed(owner));
                    line.token = token.map(|Token(token)| token);
                    line.shared = shared.then_some(true);
                }
                self.lose(event, key);
            }
            // It may have been granted all the same.
            What::NotAcquired { key, why } if holds => {
                self.end(event, Operation::Acquire, Ending::Info, key, Some(why));
            }
            What::DeadlinePassed { key } | What::Aborted { key } => self.lose(event, key),
            What::Releasing { key } => {
                self.releasing.extend(event.grant.map(|grant| (grant.client, grant.task)));
                self.begin(event, Operation::Release, key);
            }
            What::Released { key, error, denied } => {
                let ending = match (error, denied) {
                    (None, _) => Ending::Ok,
                    (Some(_), true) => Ending::Fail,
                    (Some(_), false) => Ending::Info,
                };
                if let Some(grant) = event.grant {
                    self.releasing.remove(&(grant.client, grant.task));
                }
                self.end(event, Operation::Release, ending, key, error.as_deref());
            }
            What::WriteAcknowledged { key } => self.change(event, key, Ending::Ok),
            What::WriteUnknown { key } => self.change(event, key, Ending::Info),
            What::WriteRefused { key } => self.change(event, key, Ending::Fail),
            What::Crashed { .. } if !role.is_some_and(keeps_nothing) => {
                self.releasing.retain(|(client, _)| *client != event.host);
                self.fact(event, Operation::Crash, None);
            }
            What::Restarted if matches!(role, Some(Role::Leader | Role::Follower)) => {
                self.fact(event, Operation::Restart, None);
            }
            what => self.noted(event, what),
        }
    }

    /// Adds an event that a store or the resource recorded.
    fn noted(&mut self, event: &'t Event, what: &'t What) {
        let (operation, key) = match what {
            What::Created { key } => (Operation::Created, Some(key)),
            What::Extended { key } => (Operation::Extended, Some(key)),
            What::Deleted { key } => (Operation::Deleted, Some(key)),
            What::Expired { key, .. } => (Operation::Expired, Some(key)),
            What::Lost { key } => (Operation::Lost, Some(key)),
            What::BecameLeader => (Operation::Promoted, None),
            What::StoppedLeading => (Operation::Demoted, None),
            What::ResourceRead { key, .. } => (Operation::Read, Some(key)),
            What::ResourceWritten { key, .. } => (Operation::Written, Some(key)),
            What::ResourceRestored { key, .. } => (Operation::Restored, Some(key)),
            What::ResourceTaken { key, .. } => (Operation::Taken, Some(key)),
            What::ResourceRefused { key, .. } => (Operation::Refused, Some(key)),
            _ => return,
        };
        // Other records, such as the counters that tokens are drawn from, are no locks.
        if key.is_some_and(|key| !self.history.keys.contains(&key)) {
            return;
        }
        self.fact(event, operation, key);
        let Some(line) = self.lines.last_mut() else { return };
        match what {
            What::ResourceRead { value, token, .. } | What::ResourceWritten { value, token, .. } => {
                line.value = Some(*value);
                line.token = token.map(|Token(token)| token);
            }
            What::ResourceRestored { value, .. } => line.value = Some(*value),
            What::ResourceTaken { amount, left, taken, .. } => {
                (line.amount, line.left, line.taken) = (Some(*amount), Some(*left), Some(*taken));
            }
            What::ResourceRefused { token: Token(token), .. } => line.token = Some(*token),
            _ => {}
        }
    }

    fn name(&self, grant: GrantId) -> Cow<'t, str> {
        Cow::Owned(format!("{}/{}", self.trace.host_name(grant.client), grant.section))
    }

    fn fact(&mut self, event: &'t Event, operation: Operation, key: Option<&'t Key>) {
        let grant = event.grant.filter(|_| key.is_some() && !self.unowned.contains(&event.id));
        let grant = grant.map(|grant| self.name(grant));
        self.lines.push(Line {
            time: Some(event.at.0),
            host: Some(Cow::Borrowed(self.trace.host_name(event.host))),
            ending: Some(Ending::Info),
            operation: Some(operation),
            key: key.map(|key| Cow::Borrowed(key.as_str())),
            grant,
            ..Line::default()
        });
    }

    fn add(
        &mut self,
        at: TrueTime,
        client: HostId,
        operation: Operation,
        ending: Ending,
        key: &'t Key,
        grant: Option<GrantId>,
    ) {
        // Without a lock a section is its change, of which it may never learn.
        let process = match grant {
            Some(grant) if self.trace.belief == Belief::None => grant.section,
            grant => grant.map(|grant| grant.task).unwrap_or_default(),
        };
        self.lines.push(Line {
            time: Some(at.0),
            host: Some(Cow::Borrowed(self.trace.host_name(client))),
            process: Some(Cow::Owned(process.to_string())),
            ending: Some(ending),
            operation: Some(operation),
            key: Some(Cow::Borrowed(key.as_str())),
            grant: grant.map(|grant| self.name(grant)),
            ..Line::default()
        });
    }

    fn begin(&mut self, event: &'t Event, operation: Operation, key: &'t Key) {
        self.add(event.at, event.host, operation, Ending::Invoke, key, event.grant);
    }

    fn end(
        &mut self,
        event: &'t Event,
        operation: Operation,
        ending: Ending,
        key: &'t Key,
        error: Option<&'t str>,
    ) {
        self.add(event.at, event.host, operation, ending, key, event.grant);
        if let Some(line) = self.lines.last_mut() {
            line.error = error.map(Cow::Borrowed);
        }
    }

    fn change(&mut self, event: &'t Event, key: &'t Key, ending: Ending) {
        // Without a lock it began with its section, unless that has learned of it before.
        let first = event.grant.is_none_or(|grant| self.answered.insert(grant));
        let begun = self.lines.len();
        if self.trace.belief != Belief::None || !first {
            self.add(event.at, event.host, Operation::Change, Ending::Invoke, key, event.grant);
        }
        self.add(event.at, event.host, Operation::Change, ending, key, event.grant);
        // A change may be made by the release itself, and a process does one thing at a time.
        if event.grant.is_some_and(|grant| self.releasing.contains(&(grant.client, grant.task))) {
            for line in &mut self.lines[begun..] {
                line.process = Some(Cow::Borrowed("change"));
            }
        }
    }

    /// If the belief ended with this event, and not because its holder let go.
    fn lose(&mut self, event: &'t Event, key: &'t Key) {
        if let Some(grant) = self.ended.remove(&event.id) {
            self.add(event.at, grant.client, Operation::Lose, Ending::Info, key, Some(grant));
        }
    }
}

/// True for a host that keeps no data and is no client: no fact of a history is about it.
fn keeps_nothing(role: Role) -> bool {
    matches!(role, Role::Monitor | Role::Proxy | Role::Renewer)
}
