//! Traces written by hand: a script of one line an event, for the tests of the invariants.
//!
//! The hosts are fixed: three clients, three stores, a replica and the resource. Events may be added in any order; the
//! trace has them in true-time order, those of one instant in the order in which they were added. A token that a grant
//! got is carried by its operations, as real clients do.

use std::time::Duration;

use picklock_model::ids::{EventId, GrantId, HostId, Key, Token};
use picklock_model::plan::Action;
use picklock_model::time::TrueTime;
use picklock_model::trace::{
    Applied, Broken, Condition, Conditions, Digest, Event, Hit, HostInfo, LeaseClock, Outage, Role, Trace,
    What,
};
use picklock_model::trace::{Belief, Exclusion};

use super::invariant::Invariant;
use crate::history::History;
use crate::outcome::{Finding, Outcome};

pub(crate) const CLIENT_1: HostId = HostId(0);
pub(crate) const CLIENT_2: HostId = HostId(1);
pub(crate) const NODE_1: HostId = HostId(3);
pub(crate) const NODE_2: HostId = HostId(4);
pub(crate) const NODE_3: HostId = HostId(5);
pub(crate) const REPLICA: HostId = HostId(6);
const RESOURCE: HostId = HostId(7);

/// A fault action that is applied.
pub(crate) fn injected(injection: u32) -> What {
    let applied = Applied { action: Action::Cancel, hosts: vec![RESOURCE], others: Vec::new() };
    What::Injected { injection, applied: Box::new(applied) }
}

const HOSTS: [(&str, Role); 8] = [
    ("client-1", Role::Client),
    ("client-2", Role::Client),
    ("client-3", Role::Client),
    ("node-1", Role::Leader),
    ("node-2", Role::Leader),
    ("node-3", Role::Leader),
    ("replica-1-1", Role::Follower),
    ("resource", Role::Resource),
];

/// Grants by client (A, B, C) and section.
pub(crate) const A1: GrantId = section(0, 1);
pub(crate) const A2: GrantId = section(0, 2);
pub(crate) const B1: GrantId = section(1, 1);
pub(crate) const C1: GrantId = section(2, 1);

pub(crate) const fn section(client: u16, section: u32) -> GrantId {
    GrantId::new(HostId(client), section)
}

pub(crate) const fn at(ms: u64) -> TrueTime {
    TrueTime(ms * 1_000_000)
}

pub(crate) const fn wide(ms: u64) -> Option<Duration> {
    Some(Duration::from_millis(ms))
}

/// A trace in the making.
pub(crate) struct Script {
    trace: Trace,
    now: TrueTime,
    key: Key,
    tokens: Vec<(GrantId, Token)>,
}

impl Script {
    /// Naive clients of one store, a run of one second, and a progress bound of 100 ms.
    pub(crate) fn new() -> Script {
        let hosts = HOSTS.map(|(name, role)| HostInfo::new(name, role));
        Script {
            trace: Trace {
                hosts: hosts.to_vec(),
                belief: Belief::Naive,
                exclusion: Exclusion::Mutual,
                reentrant: false,
                takes_up: false,
                sessions: false,
                quorum: 1,
                ttl: Duration::from_millis(100),
                progress_bound: Duration::from_millis(100),
                survives: Conditions::NONE,
                detour: Duration::ZERO,
                silent_client: Duration::ZERO,
                silent_store: Duration::ZERO,
                end: at(1_000),
                faults: vec!["fault".to_owned()],
                events: Vec::new(),
                digest: Digest::default(),
                final_client: None,
                hits: Vec::new(),
                outages: Vec::new(),
                attempts: std::collections::BTreeMap::new(),
            },
            now: at(0),
            key: Key::new("stock"),
            tokens: Vec::new(),
        }
    }

    pub(crate) fn believing(mut self, belief: Belief) -> Script {
        self.trace.belief = belief;
        self
    }

    pub(crate) fn quorum(mut self, quorum: u32) -> Script {
        self.trace.quorum = quorum;
        self
    }

    pub(crate) fn without_stores(mut self) -> Script {
        self.trace.quorum = 0;
        for host in &mut self.trace.hosts {
            host.role = if host.role == Role::Leader { Role::Monitor } else { host.role };
        }
        self
    }

    /// Sets the key of the events that follow.
    pub(crate) fn on(mut self, key: &str) -> Script {
        self.key = Key::new(key);
        self
    }

    /// Sets the time of the events that follow.
    pub(crate) fn at(mut self, ms: u64) -> Script {
        self.now = at(ms);
        self
    }

    pub(crate) fn event(mut self, host: HostId, grant: Option<GrantId>, what: What) -> Script {
        let event = Event { at: self.now, id: EventId(0), host, cause: None, conn: None, grant, what };
        self.trace.events.push(event);
        self
    }

    fn by(self, grant: GrantId, what: impl FnOnce(Key) -> What) -> Script {
        let what = what(self.key.clone());
        self.event(grant.client, Some(grant), what)
    }

    pub(crate) fn waits(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Waiting { key, shared: false })
    }

    pub(crate) fn waits_to_share(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Waiting { key, shared: true })
    }

    /// The section begins another attempt.
    pub(crate) fn attempts(mut self, grant: GrantId) -> Script {
        self.trace.attempts.entry(grant).or_default().push(self.now);
        self
    }

    /// The wall clock of a host is moved by so many milliseconds.
    pub(crate) fn steps(self, host: HostId, by_ms: i64) -> Script {
        self.event(host, None, What::ClockStepped { by_ns: by_ms * 1_000_000 })
    }

    /// A host counts leases by its monotonic clock.
    pub(crate) fn counts_monotonically(mut self, host: HostId) -> Script {
        self.trace.hosts[usize::from(host.0)].lease_clock = LeaseClock::Monotonic;
        self
    }

    /// The clocks of a host go so many parts per million fast from now on.
    pub(crate) fn drifts(self, host: HostId, ppm: i64) -> Script {
        self.event(host, None, What::DriftSet { ppm })
    }

    /// An injection of the first fault makes a difference to a host, in the service of this grant.
    pub(crate) fn hits(mut self, host: HostId, grant: Option<GrantId>) -> Script {
        self.trace.hits.push(Hit { injection: 0, at: self.now, host, grant });
        self
    }

    pub(crate) fn asked(self, grant: GrantId, line: &str) -> Script {
        self.by(grant, |_| What::Asked { line: line.to_owned() })
    }

    pub(crate) fn prints(self, grant: GrantId, line: &str) -> Script {
        self.by(grant, |_| What::Printed { line: line.to_owned(), aside: false })
    }

    pub(crate) fn acquires(self, grant: GrantId) -> Script {
        self.acquires_with(grant, None, None)
    }

    pub(crate) fn acquires_with(self, grant: GrantId, token: Option<u64>, deadline: Option<u64>) -> Script {
        let owner = format!("{}-{}", grant.client.0, grant.section);
        self.acquires_as(grant, &owner, token, deadline)
    }

    pub(crate) fn acquires_as(
        mut self,
        grant: GrantId,
        owner: &str,
        token: Option<u64>,
        deadline: Option<u64>,
    ) -> Script {
        let (owner, token, deadline) = (owner.to_owned(), token.map(Token), deadline.map(at));
        self.tokens.extend(token.map(|token| (grant, token)));
        self.by(grant, |key| What::Acquired { key, owner, token, deadline })
    }

    pub(crate) fn gives_up(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::NotAcquired { key, why: "tired".to_owned() })
    }

    pub(crate) fn deadline_passes(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::DeadlinePassed { key })
    }

    pub(crate) fn aborts(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Aborted { key })
    }

    pub(crate) fn releasing(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Releasing { key })
    }

    pub(crate) fn released(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Released { key, error: None, denied: false })
    }

    pub(crate) fn release_denied(self, grant: GrantId) -> Script {
        let error = Some("not the owner".to_owned());
        self.by(grant, |key| What::Released { key, error, denied: true })
    }

    pub(crate) fn release_in_doubt(self, grant: GrantId) -> Script {
        let error = Some("no answer".to_owned());
        self.by(grant, |key| What::Released { key, error, denied: false })
    }

    pub(crate) fn renews(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Renewed { key, deadline: None })
    }

    pub(crate) fn renewal_denied(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::RenewalDenied { key })
    }

    pub(crate) fn shares(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::Shares { key })
    }

    pub(crate) fn excluding(mut self, exclusion: Exclusion) -> Script {
        self.trace.exclusion = exclusion;
        self
    }

    pub(crate) fn reentrant(mut self) -> Script {
        self.trace.reentrant = true;
        self
    }

    pub(crate) fn in_sessions(mut self) -> Script {
        self.trace.sessions = true;
        self
    }

    /// Waits and acquires at one instant, lets go at another; no store is asked.
    pub(crate) fn held(self, grant: GrantId, from: u64, until: u64) -> Script {
        self.at(from).waits(grant).acquires(grant).at(until).releasing(grant).released(grant)
    }

    fn at_store(self, host: HostId, grant: Option<GrantId>, what: impl FnOnce(Key) -> What) -> Script {
        let what = what(self.key.clone());
        self.event(host, grant, what)
    }

    pub(crate) fn creates(self, grant: GrantId, host: HostId) -> Script {
        self.at_store(host, Some(grant), |key| What::Created { key })
    }

    pub(crate) fn extends(self, grant: GrantId, host: HostId) -> Script {
        self.at_store(host, Some(grant), |key| What::Extended { key })
    }

    pub(crate) fn deletes(self, grant: GrantId, host: HostId) -> Script {
        self.at_store(host, Some(grant), |key| What::Deleted { key })
    }

    pub(crate) fn expires(self, host: HostId) -> Script {
        self.expires_late(host, 0)
    }

    /// Drops a record whose lease ran out so many milliseconds ago.
    pub(crate) fn expires_late(self, host: HostId, overdue_ms: u64) -> Script {
        self.at_store(host, None, |key| What::Expired { key, overdue_ns: overdue_ms * 1_000_000 })
    }

    fn token(&self, grant: GrantId) -> Option<Token> {
        self.tokens.iter().find(|(holder, _)| *holder == grant).map(|(_, token)| *token)
    }

    pub(crate) fn reads(self, grant: GrantId, value: i64) -> Script {
        let token = self.token(grant);
        self.at_store(RESOURCE, Some(grant), |key| What::ResourceRead { key, value, token })
    }

    pub(crate) fn writes(self, grant: GrantId, value: i64) -> Script {
        let token = self.token(grant);
        self.at_store(RESOURCE, Some(grant), |key| What::ResourceWritten { key, value, token })
    }

    pub(crate) fn reads_at(self, host: HostId, grant: GrantId, value: i64) -> Script {
        self.at_store(host, Some(grant), |key| What::ResourceRead { key, value, token: None })
    }

    pub(crate) fn writes_at(self, host: HostId, grant: GrantId, value: i64) -> Script {
        self.at_store(host, Some(grant), |key| What::ResourceWritten { key, value, token: None })
    }

    /// A register lies on this host with this value from now on.
    pub(crate) fn restores(self, host: HostId, value: i64) -> Script {
        self.at_store(host, None, |key| What::ResourceRestored { key, value })
    }

    pub(crate) fn takes(self, grant: GrantId, amount: i64, left: i64) -> Script {
        self.at_store(RESOURCE, Some(grant), |key| What::ResourceTaken { key, amount, left, taken: true })
    }

    pub(crate) fn fenced_off(self, grant: GrantId, highest: u64) -> Script {
        let (token, highest) = (self.token(grant).unwrap_or(Token(0)), Token(highest));
        self.at_store(RESOURCE, Some(grant), |key| What::ResourceRefused { key, token, highest })
    }

    pub(crate) fn acknowledged(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::WriteAcknowledged { key })
    }

    pub(crate) fn unknown(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::WriteUnknown { key })
    }

    pub(crate) fn refused(self, grant: GrantId) -> Script {
        self.by(grant, |key| What::WriteRefused { key })
    }

    /// A host dies, and its connections are not closed.
    pub(crate) fn loses_power(self, host: HostId) -> Script {
        self.event(host, None, What::Crashed { power_loss: true })
    }

    pub(crate) fn crashes(self, host: HostId) -> Script {
        self.event(host, None, What::Crashed { power_loss: false })
    }

    /// The design claims to survive this.
    pub(crate) fn surviving(mut self, condition: Condition) -> Script {
        self.trace.survives = self.trace.survives.and(condition);
        self
    }

    /// This is broken from now on, until that millisecond if one is given.
    pub(crate) fn breaks(mut self, what: Broken, until: Option<u64>) -> Script {
        let injection = self.trace.outages.len() as u32;
        self.trace.outages.push(Outage { injection, what, from: self.now, until: until.map(at) });
        let begin = self.now;
        let mut script = self.event(RESOURCE, None, injected(injection));
        if let Some(until) = until {
            script = script.at(until).event(RESOURCE, None, What::Healed { injection });
        }
        script.now = begin;
        script
    }

    pub(crate) fn heals(self) -> Script {
        self.event(RESOURCE, None, What::Healed { injection: 0 })
    }

    pub(crate) fn trace(mut self) -> Trace {
        self.trace.events.sort_by_key(|event| event.at);
        for (id, event) in self.trace.events.iter_mut().enumerate() {
            event.id = EventId(id as u32);
        }
        self.trace
    }
}

pub(crate) fn judge(invariant: &Invariant, trace: &Trace) -> Outcome {
    (invariant.check)(&History::of(trace))
}

/// The findings of an invariant in a trace; none if it holds.
pub(crate) fn findings(invariant: &Invariant, trace: &Trace) -> Vec<Finding> {
    match judge(invariant, trace) {
        Outcome::Violated(findings) => {
            assert!(!findings.is_empty(), "a violation has a finding");
            findings
        }
        Outcome::Holds => Vec::new(),
        other => panic!("{} should have judged this: {other:?}", invariant.name),
    }
}

/// The only finding of an invariant in a trace.
pub(crate) fn finding(invariant: &Invariant, trace: &Trace) -> Finding {
    let mut all = findings(invariant, trace);
    assert_eq!(all.len(), 1, "one finding was expected: {all:#?}");
    all.remove(0)
}

pub(crate) fn is_unknown(invariant: &Invariant, trace: &Trace) -> bool {
    matches!(judge(invariant, trace), Outcome::Undecided(_) | Outcome::NotAsked(_))
}

/// The events that a finding cites, as text: `10 client-1 acquired`.
pub(crate) fn cited(trace: &Trace, finding: &Finding) -> Vec<String> {
    let text = |id: &EventId| {
        let event = &trace.events[id.0 as usize];
        let what = serde_json::to_value(&event.what).expect("events serialise");
        let what = what["what"].as_str().expect("events are tagged by kind");
        format!("{} {} {what}", event.at.as_millis(), trace.host_name(event.host))
    };
    finding.events.iter().map(text).collect()
}
