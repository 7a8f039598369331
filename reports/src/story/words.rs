//! The words for an event. The host is not named: it stands in a column of its own, or before the words.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use picklock_judge::history::{History, Record};
use picklock_model::ids::{EventId, GrantId, HostId, Key, Token};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Belief, Exclusion};
use picklock_model::trace::{Disconnect, Event, Halt, Role, Trace, Vocabulary, What};

/// Names things of a trace: hosts, and grants by their client, with the section where one client has several.
pub(crate) struct Names<'a> {
    trace: &'a Trace,
    /// Clients with more than one section.
    several: BTreeSet<HostId>,
    /// Clients with several tasks, which may share a connection.
    tasks: BTreeSet<HostId>,
    /// Where readers share: the grants that read.
    reading: BTreeSet<GrantId>,
    /// Where readers share: the grants that write.
    writing: BTreeSet<GrantId>,
    /// The records that stores dropped or touched.
    records: OnceCell<Records>,
}

/// The records that stores dropped or touched, by the event.
struct Records {
    /// When the leases ran out that were dropped later.
    ran_out: BTreeMap<EventId, TrueTime>,
    /// The earlier leaders that revoked leases.
    revoked: BTreeMap<EventId, HostId>,
    /// The owner of the record that is dropped.
    owners: BTreeMap<EventId, GrantId>,
    /// The owners of the records that others deleted or extended.
    foreign: BTreeMap<EventId, GrantId>,
    /// The owners of the live records that a replica lacked when it became the primary.
    lacking: BTreeMap<EventId, BTreeSet<GrantId>>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(trace: &'a Trace) -> Names<'a> {
        let grants: BTreeSet<GrantId> = trace.events.iter().filter_map(|event| event.grant).collect();
        let again = grants.iter().zip(grants.iter().skip(1)).filter(|(one, next)| one.client == next.client);
        let several = again.map(|(one, _)| one.client).collect();
        let tasks = grants.iter().filter(|grant| grant.task != 0).map(|grant| grant.client).collect();
        let of = |such: fn(&What) -> bool| -> BTreeSet<GrantId> {
            trace.events.iter().filter(|event| such(&event.what)).filter_map(|event| event.grant).collect()
        };
        let (mut reading, mut writing) = (BTreeSet::new(), BTreeSet::new());
        if trace.exclusion == Exclusion::Modes {
            reading = of(|what| matches!(what, What::Shares { .. }));
            writing = &of(|what| matches!(what, What::Acquired { .. })) - &reading;
        }
        Names { trace, several, tasks, reading, writing, records: OnceCell::new() }
    }

    /// " to read" or " to write", where some of the grants are shared.
    pub(crate) fn mode(&self, grant: Option<GrantId>) -> &'static str {
        match grant {
            Some(grant) if self.reading.contains(&grant) => " to read",
            Some(grant) if self.writing.contains(&grant) => " to write",
            _ => "",
        }
    }

    fn records(&self) -> &Records {
        self.records.get_or_init(|| {
            let history = History::of(self.trace);
            let records = &history.records;
            let ended = records.iter().filter_map(|record| record.ended);
            let ran_out = ended.clone().map(|ended| (ended.id, history.ran_out(ended)));
            let revoked = ended.filter_map(|ended| Some((ended.id, history.revoked_by(ended)?)));
            let foreign = history.touches.iter().filter_map(|touch| {
                let owner = records[touch.record].created.grant?;
                let toucher = touch.event.grant.filter(|grant| *grant != owner)?;
                let is_known = owner.client != toucher.client || !self.shares_connection(owner.client);
                is_known.then_some((touch.event.id, owner))
            });
            let promoted = self.trace.events.iter().filter(|event| event.what == What::BecameLeader);
            let lacking = promoted.map(|event| (event.id, self.lacking_at(&history, event)));
            let owners = records.iter().filter_map(|record| Some((record.ended?.id, record.created.grant?)));
            let owners = owners.filter(|(_, owner)| !self.shares_connection(owner.client)).collect();
            Records {
                ran_out: ran_out.collect(),
                revoked: revoked.collect(),
                owners,
                foreign: foreign.collect(),
                lacking: lacking.collect(),
            }
        })
    }

    /// The owners of the records that other stores keep at the promotion of a replica, and the replica does not.
    fn lacking_at(&self, history: &History<'_>, promoted: &Event) -> BTreeSet<GrantId> {
        let live = |record: &&Record<'_>| {
            record.created.at <= promoted.at && record.over_at.is_none_or(|over| over > promoted.at)
        };
        let kept = || history.records.iter().filter(live);
        // A lease that had run out there is not what it lacks: that of a store that was down is known to nobody.
        let had =
            |record: &&Record<'_>| record.created.host == promoted.host && record.created.at <= promoted.at;
        let here: BTreeSet<_> =
            history.records.iter().filter(had).map(|record| (record.key, record.created.grant)).collect();
        // A copy of all data names no owner.
        let copied: BTreeSet<_> = kept()
            .filter(had)
            .filter(|record| record.created.grant.is_none())
            .map(|record| record.key)
            .collect();
        let lacks = kept().filter(|record| {
            let is_here = here.contains(&(record.key, record.created.grant)) || copied.contains(&record.key);
            record.on_store && !is_here
        });
        let grants = lacks.filter_map(|record| record.created.grant);
        grants.filter(|grant| !self.shares_connection(grant.client)).collect()
    }

    /// ", without the record of client-1": what a replica lacked that became the primary.
    pub(crate) fn without(&self, promoted: &Event) -> String {
        let grants = self.records().lacking.get(&promoted.id).into_iter().flatten();
        let names: Vec<String> = grants.map(|grant| self.grant(*grant)).collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!(", without the record of {}", names.join(", ")),
        }
    }

    /// True if a store starts anew in the very instant of the event: its records are shown as gone then.
    pub(crate) fn comes_back(&self, event: &Event) -> bool {
        let same = |other: &&Event| other.host == event.host && other.at == event.at;
        let around = self.trace.events.partition_point(|other| other.at < event.at);
        self.trace.events[around..]
            .iter()
            .take_while(|other| other.at == event.at)
            .filter(same)
            .any(|other| other.what == What::Restarted)
    }

    /// When the lease ran out that a store dropped in this event.
    pub(crate) fn ran_out(&self, event: &Event) -> TrueTime {
        self.records().ran_out.get(&event.id).copied().unwrap_or(event.at)
    }

    /// The earlier leader that revoked the lease that a store ends in this event.
    pub(crate) fn revoked_by(&self, event: &Event) -> Option<HostId> {
        self.records().revoked.get(&event.id).copied()
    }

    /// ", which had not run out: node-1, the leader before, ended it"; empty for a lease that ran out.
    pub(crate) fn not_run_out(&self, event: &Event) -> String {
        let former =
            self.revoked_by(event).map(|former| (self.host(former), self.trace.vocabulary(former).leader));
        former
            .map(|(host, leader)| {
                format!(", which had not run out here: {host}, the {leader} before, proposed that by its own clock")
            })
            .unwrap_or_default()
    }

    /// True for a grant whose deadline had passed when its client saw it, if clients look at deadlines.
    fn is_stillborn(&self, event: &Event, deadline: TrueTime) -> bool {
        matches!(self.trace.belief, Belief::Trusting | Belief::Honest) && deadline <= event.at
    }

    /// "client-1", or the key if it is not known: whose lease it was that ran out.
    pub(crate) fn lease_of(&self, expired: &Event, key: &Key) -> String {
        let owner = self.records().owners.get(&expired.id);
        owner.map_or_else(|| format!("`{key}`"), |owner| self.grant(*owner))
    }

    /// True for a key that has waited behind another, which has just gone.
    pub(crate) fn is_next_in_queue(&self, created: &Event) -> bool {
        self.trace.is_next_in_queue(created)
    }

    /// ", which is that of client-1": whose record it is that somebody else deletes or extends.
    fn foreign(&self, event: &Event) -> String {
        let owner = event.grant.and_then(|_| self.records().foreign.get(&event.id));
        owner.map(|owner| format!(", which is that of {}", self.grant(*owner))).unwrap_or_default()
    }

    /// The words of the product that a host runs.
    pub(crate) fn vocabulary(&self, host: HostId) -> Vocabulary {
        self.trace.vocabulary(host)
    }

    /// The name of a host.
    pub(crate) fn host(&self, host: HostId) -> &'a str {
        self.trace.host_name(host)
    }

    /// "client-1", or "client-1 (section 2)" if that client has several.
    pub(crate) fn grant(&self, grant: GrantId) -> String {
        let client = self.host(grant.client);
        if self.several.contains(&grant.client) { self.in_full(grant) } else { client.to_owned() }
    }

    fn in_full(&self, grant: GrantId) -> String {
        let client = self.host(grant.client);
        match grant.task {
            0 => format!("{client} (section {})", grant.section),
            task => format!("{client} (task {}, section {})", task + 1, grant.section),
        }
    }

    /// A text of findings, in which every grant bears its section, with grants named as everywhere else here.
    pub(crate) fn as_known(&self, text: &str) -> String {
        let grants: BTreeSet<GrantId> = self.trace.events.iter().filter_map(|event| event.grant).collect();
        grants.into_iter().filter(|grant| !self.several.contains(&grant.client)).fold(
            text.to_owned(),
            |text, grant| {
                let client = self.host(grant.client);
                text.replace(&self.in_full(grant), client)
            },
        )
    }

    /// The name of the fault behind an injection.
    pub(crate) fn fault(&self, injection: u32) -> &'a str {
        self.trace.faults.get(injection as usize).map_or("fault", String::as_str)
    }

    /// True if a client has several tasks: what servers are sent for one of them may bear another's name.
    pub(crate) fn shares_connection(&self, client: HostId) -> bool {
        self.tasks.contains(&client)
    }

    /// In whose service a host did something, as far as that is known: what a server is sent over a connection that tasks
    /// share is that of their client.
    fn served(&self, host: HostId, grant: GrantId) -> String {
        let is_server = !matches!(self.trace.role(host), Some(Role::Client | Role::Resource));
        match is_server && self.shares_connection(grant.client) {
            true => self.host(grant.client).to_owned(),
            false => self.grant(grant),
        }
    }

    /// " for client-1": in whose service an event happened.
    pub(crate) fn whose(&self, event: &Event) -> String {
        event.grant.map(|grant| format!(" for {}", self.served(event.host, grant))).unwrap_or_default()
    }

    /// The words for the event.
    pub(crate) fn say(&self, event: &Event) -> String {
        let whose = self.whose(event);
        match &event.what {
            What::Waiting { key, .. } => format!("asks for `{key}`{}", self.mode(event.grant)),
            What::Acquired { key, deadline: Some(deadline), .. } if self.is_stillborn(event, *deadline) => {
                format!("gets `{key}`{}, whose deadline passed at {deadline}", self.mode(event.grant))
            }
            What::Acquired { key, token, deadline, .. } => {
                let until = deadline.map(|at| format!(", valid until {at}")).unwrap_or_default();
                format!("holds `{key}`{}{}{until}", self.mode(event.grant), with(*token))
            }
            What::NotAcquired { key, why } => format!("does not get `{key}`: {why}"),
            What::DeadlinePassed { key } => format!("the deadline of `{key}` passes on its clock"),
            What::Aborted { key } => format!("gives `{key}` up"),
            What::Releasing { key } => format!("begins to release `{key}`"),
            What::Released { key, error: None, .. } => format!("has released `{key}`"),
            What::Released { key, error: Some(error), .. } => format!("release of `{key}` failed: {error}"),
            What::Shares { key } => format!("gets `{key}` together with others that read"),
            What::RenewalDenied { key } => {
                format!("learns that its renewal of `{key}` failed: the lock is lost")
            }
            What::Renewed { key, .. } => format!("has renewed `{key}`"),
            What::Reentered { key, depth } => format!("holds `{key}` once more, now {depth} times"),
            What::NotReentered { key, why } => format!("does not get `{key}` once more: {why}"),
            What::Left { key, depth, error: None } => {
                let times = crate::page::numbers::plural(u64::from(*depth), "time");
                format!("has released `{key}` once, and still holds it {depth} {times}")
            }
            What::Left { key, error: Some(error), .. } => format!("one release of `{key}` failed: {error}"),
            What::Finished => "has finished".to_owned(),
            What::Asked { line } => format!("its program is asked `{line}`"),
            What::Printed { line, aside: false } if says_by_itself(line) => {
                format!("its program says `{line}`")
            }
            What::Printed { line, aside: false } => format!("its program answers `{line}`"),
            What::Printed { line, aside: true } => format!("its program complains: {line}"),
            What::Paused { kind, until } => match kind {
                Halt::Pause => format!("pauses until {until}"),
                Halt::Suspend => format!("is suspended until {until}, its monotonic clock with it"),
                Halt::Stall => format!("its section stalls until {until}, its other tasks go on"),
            },
            What::Resumed => "runs again".to_owned(),
            What::Crashed { power_loss: false } => "crashes".to_owned(),
            What::Crashed { power_loss: true } => "loses power; its peers are not notified".to_owned(),
            What::Restarted => "starts anew".to_owned(),
            What::Connecting { peer } => format!("connects to {}", self.host(*peer)),
            What::Sent { peer, segment, bytes, content: _ } => {
                format!("sends segment {segment} ({bytes} bytes) to {}{whose}", self.host(*peer))
            }
            What::Delivered { peer, segment } => {
                format!("receives segment {segment} from {}{whose}", self.host(*peer))
            }
            What::Disconnected { peer, why } => {
                let peer = self.host(*peer);
                match why {
                    Disconnect::Closed => format!("connection with {peer} is closed"),
                    Disconnect::Reset => format!("connection with {peer} is reset"),
                    Disconnect::Refused => format!("connection with {peer} is refused"),
                    Disconnect::TimedOut => format!("connection with {peer} times out"),
                }
            }
            What::ClockStepped { by_ns } => format!("wall clock steps by {}", signed(*by_ns)),
            What::ConnectionsForgotten { peer } => {
                format!("nothing passes any more on its connections with {}", self.trace.host_name(*peer))
            }
            What::DriftSet { ppm } if *ppm < 0 => format!("clocks run {} ppm slow", ppm.unsigned_abs()),
            What::DriftSet { ppm } => format!("clocks run {ppm} ppm fast"),
            What::Created { key } if self.trace.is_next_in_queue(event) => {
                format!("grants `{key}`{whose}, whose key comes first")
            }
            What::Created { key } => format!("creates the record of `{key}`{whose}"),
            What::Extended { key } => {
                format!("extends the lease of `{key}`{whose}{}", self.foreign(event))
            }
            What::Deleted { key } => format!("deletes the record of `{key}`{whose}{}", self.foreign(event)),
            What::Expired { key, .. } if self.revoked_by(event).is_some() => {
                format!("revokes the lease of {}{}", self.lease_of(event, key), self.not_run_out(event))
            }
            What::Expired { key, .. } if !self.trace.vocabulary(event.host).drops => {
                format!("the lease of `{key}` is over; its record stays")
            }
            What::Expired { key, .. } if self.comes_back(event) => {
                format!("comes back without `{key}`: expired at {}, while it was down", self.ran_out(event))
            }
            What::Expired { key, .. } => match self.ran_out(event) {
                at if at.as_nanos() / 1_000 == event.at.as_nanos() / 1_000 => {
                    format!("the lease of `{key}` runs out: record dropped")
                }
                at if self.trace.vocabulary(event.host).proposes => {
                    format!("drops `{key}`: its lease had run out by {at}")
                }
                at => format!("drops `{key}`: expired at {at}, noticed now"),
            },
            What::Lost { key } => format!("has lost the record of `{key}` that it had"),
            What::LeaseLost { key } => {
                format!("has lost the lease of `{key}` and not its record, which never runs out now")
            }
            What::BecameLeader => {
                format!("becomes the {}{}", self.trace.vocabulary(event.host).leader, self.without(event))
            }
            What::StoppedLeading => format!("becomes a {}", self.trace.vocabulary(event.host).follower),
            What::NotModelled { name } => format!("refuses {name}{whose}: it is not modelled"),
            What::Noticed { text } => format!("announces {text}"),
            What::ResourceRead { key, value, token } => {
                format!("reads `{key}` = {value}{whose}{}", with(*token))
            }
            What::ResourceWritten { key, value, token } => {
                format!("writes `{key}` = {value}{whose}{}", with(*token))
            }
            What::ResourceRestored { key, value } => {
                format!("has `{key}` = {value}, and no later change of it")
            }
            What::ResourceTaken { key, amount, left, taken: true } => {
                format!("takes {amount} of `{key}`{whose}, {left} left")
            }
            What::ResourceTaken { key, amount, left, taken: false } => {
                format!("refuses to take {amount} of `{key}`{whose}: only {left} left")
            }
            What::ResourceRefused { key, token, highest } => {
                format!("refuses a change of `{key}`{whose}: token {token} is below {highest}")
            }
            What::WriteAcknowledged { key } => format!("learns that its change of `{key}` was applied"),
            What::WriteUnknown { key } => {
                format!("will never learn whether its change of `{key}` was applied")
            }
            What::WriteRefused { key } => format!("learns that its change of `{key}` was not made"),
            What::Injected { injection, applied } => {
                format!("fault {}: {}", self.fault(*injection), self.trace.words(applied))
            }
            What::TookEffect { injection } => format!("fault {} makes a difference", self.fault(*injection)),
            What::Healed { injection } if self.outlasts(event) => {
                format!("fault {} lasts beyond the end of the run", self.fault(*injection))
            }
            What::Healed { injection } => format!("fault {} is over", self.fault(*injection)),
            // The vocabulary of events may grow; an event that has no words yet is shown by its kind.
            other => kind(other),
        }
    }

    /// True if an end of a fault says only that the run is over.
    pub(crate) fn outlasts(&self, healed: &Event) -> bool {
        let after = self.trace.events.iter().rev().take_while(|event| event.at == self.trace.end);
        let mut tail = after.take_while(|event| matches!(event.what, What::Healed { .. }));
        healed.at == self.trace.end && tail.any(|event| event.id == healed.id)
    }
}

/// The kind of an event in words, such as "renewal denied".
fn kind(what: &What) -> String {
    let what = serde_json::to_value(what).ok();
    let kind = what.as_ref().and_then(|what| what.get("what")?.as_str());
    kind.unwrap_or("something").replace('-', " ")
}

fn with(token: Option<Token>) -> String {
    token.map(|token| format!(" with token {token}")).unwrap_or_default()
}

fn signed(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", crate::page::numbers::span(std::time::Duration::from_nanos(ns.unsigned_abs())))
}

/// True if a line is the report of an autonomous client.
fn says_by_itself(line: &str) -> bool {
    ["wants ", "holds ", "frees ", "lost "].iter().any(|verb| line.starts_with(verb))
}
