//! The parts of a [`History`].

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::ids::{GrantId, HostId, Key, Token};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, LeaseClock, Trace, What};

use super::wall::Wall;

/// A run as invariants see it.
pub struct History<'t> {
    /// The trace it was derived from.
    pub trace: &'t Trace,
    /// The keys that were locked or changed, in order of appearance. Everything below names a key by its index here.
    pub keys: Vec<&'t Key>,
    /// The sections in order of appearance. Everything below names a section by its index here.
    pub sections: Vec<Section<'t>>,
    /// The indices of the sections by their names.
    pub(super) named: BTreeMap<GrantId, usize>,
    /// The sections that were granted, in grant order: by the instant at which the store executed the request.
    pub granted: Vec<usize>,
    /// The records that stores and replicas kept of grants, in order of creation. Records of other keys, such as the counters
    /// that tokens are drawn from, are no locks and do not appear.
    pub records: Vec<Record<'t>>,
    /// Requests that met a live record on a host that took writes, in true-time order.
    pub touches: Vec<Touch<'t>>,
    /// The extensions of sessions that records depend on, on hosts that took writes, in true-time order.
    pub heartbeats: Vec<&'t Event>,
    /// The operations that reached the guarded resource, in the order in which it was decided there.
    pub operations: Vec<Operation<'t>>,
    /// Those that are in no history any more: the store that counts since then does not have them.
    pub discarded: Vec<Discarded<'t>>,
    /// The answers that clients got to their changes, in true-time order.
    pub answers: Vec<Answer<'t>>,
    /// Promotions, demotions and crashes, in true-time order.
    pub host_changes: Vec<&'t Event>,
    /// The events by which faults began, hit or healed, in true-time order.
    pub disruptions: Vec<&'t Event>,
    /// The clocks by which hosts count leases that were stepped or drift; all others show true spans.
    pub(super) walls: BTreeMap<HostId, Wall>,
    /// True if a grant took up a record that an earlier section of its client had left behind: the owner is the client.
    pub takes_up: bool,
    /// The records that are of several locks, which exclude each other by them.
    pub shared: Vec<SharedRecord<'t>>,
}

/// A record that is of several locks.
#[derive(Clone, Debug)]
pub struct SharedRecord<'t> {
    /// The name under which stores keep it.
    pub name: &'t Key,
    /// The indices of the locks in [`History::keys`].
    pub locks: Vec<usize>,
}

/// One section: a request for the lock, and what became of it.
pub struct Section<'t> {
    /// Its name, and the name of the grant if it gets one.
    pub id: GrantId,
    /// The index of the key that it locks and changes.
    pub key: usize,
    /// When it began to wait: for the lock, or without a lock for its change.
    pub asked: Option<&'t Event>,
    /// The end of the wait: the grant, giving up, or the client's crash; without a lock, what it learned of its change.
    /// `None` while it waits at the end of the run.
    pub answered: Option<&'t Event>,
    /// The grant, if it got one.
    pub grant: Option<Granted<'t>>,
    /// The other events of it that its client recorded, in true-time order: acquires once more, deadlines, giving up, releases.
    pub steps: Vec<&'t Event>,
    /// Indices of what it created in [`History::records`], in order of creation.
    pub records: Vec<usize>,
    /// It asked for a grant that is shared.
    pub(super) asks_to_share: bool,
    /// The grant that it gets is shared.
    pub(super) shares: bool,
    /// The last message that reached a store or a replica of those that its client sent before the section had its answer.
    pub delivered: Option<&'t Event>,
}

/// A grant, from the moment when the client saw it.
pub struct Granted<'t> {
    /// The client's own code saw the grant: its belief begins.
    pub acquired: &'t Event,
    /// The holder, as the store knows it.
    pub owner: &'t str,
    /// The fencing token, if the design hands one out.
    pub token: Option<Token>,
    /// True if others that share may hold at the same time.
    pub shared: bool,
    /// When the store executed the request, or the store that completed the quorum. Where no server reported it, the latest
    /// instant at which it can have: when the last message was sent that the client got before it knew.
    pub granted_at: TrueTime,
    /// The earliest instant at which that can have been: the same where a server reported it, else when the section asked.
    pub earliest: TrueTime,
    /// Its place in the grant order of the whole run.
    pub rank: usize,
    /// The end of the belief; not before [`acquired`](Granted::acquired), and the same instant if it was stillborn.
    pub believed_until: TrueTime,
    /// The event that ended the belief; `None` if the run's end did.
    pub belief_end: Option<&'t Event>,
    /// The section was over: its release returned, it gave up without one, or its client died.
    pub let_go: Option<&'t Event>,
}

/// The record of one grant on one host, from creation to its end.
pub struct Record<'t> {
    /// The key: of a record that several locks share, that of the request that created it.
    pub key: usize,
    /// Its creation; host and creating grant stand there.
    pub created: &'t Event,
    /// True if the host took writes when it created the record: a replica's copy is not a grant.
    pub on_store: bool,
    /// Its deletion, expiry, loss, or replacement.
    pub ended: Option<&'t Event>,
    /// When it was over: when it ended, or, if its lease ran out, when the store could have dropped it.
    pub over_at: Option<TrueTime>,
    /// The key of its client's session, where records count as long as sessions.
    pub(super) session: Option<&'t Key>,
    /// The end of the session, and when it was over, while the record is there still.
    pub(super) lapsed: Option<(&'t Event, TrueTime)>,
}

impl Granted<'_> {
    /// True if it is known when the grant was made.
    #[must_use]
    pub fn is_dated(&self) -> bool {
        self.earliest == self.granted_at
    }

    /// True if this grant was made before that one, whenever within their bounds the two were made: sections of one task come
    /// one after another.
    #[must_use]
    pub fn surely_before(&self, other: &Granted<'_>) -> bool {
        let task = |grant: &Granted<'_>| grant.acquired.grant.map(|id| (id.client, id.task));
        let is_dated = self.is_dated() && other.is_dated();
        self.granted_at < other.earliest
            || (self.rank < other.rank && (is_dated || task(self) == task(other)))
    }
}

impl<'t> Record<'t> {
    pub(super) fn end(&mut self, event: &'t Event, over_at: TrueTime) {
        self.ended = Some(event);
        self.over_at = Some(over_at.max(self.created.at));
    }
}

/// A request that extended, deleted or replaced a live record.
pub struct Touch<'t> {
    /// Index of the record in [`History::records`].
    pub record: usize,
    /// The event of the store.
    pub event: &'t Event,
}

/// Something asked of the guarded resource.
pub struct Operation<'t> {
    /// The event of the resource.
    pub event: &'t Event,
    /// The section it came from, if known.
    pub section: Option<usize>,
    /// The register or stock.
    pub key: usize,
    /// The token that came with it, unless it was refused.
    pub token: Option<Token>,
    /// Its kind, with the result.
    pub kind: OperationKind,
}

/// An operation on a register that lies in a store, and that was lost with a server or with its disk.
pub struct Discarded<'t> {
    /// The operation.
    pub operation: Operation<'t>,
    /// The event by which another history counts.
    pub by: &'t Event,
}

/// A kind of operation on the resource, with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// The register was read.
    Read,
    /// The register was set to this value.
    Write(i64),
    /// The stock was asked for an amount.
    Take {
        /// How much.
        amount: i64,
        /// The stock that is left.
        left: i64,
        /// False if too little was left.
        taken: bool,
    },
    /// Refused for its token.
    Refused {
        /// How many running stores still kept the record of the section's grant.
        standing: u32,
    },
}

impl OperationKind {
    /// True if it changed the resource.
    #[must_use]
    pub fn changes(self) -> bool {
        matches!(self, OperationKind::Write(_) | OperationKind::Take { taken: true, .. })
    }

    /// True if the resource carried it out: all but those refused for their token.
    #[must_use]
    pub fn applied(self) -> bool {
        !matches!(self, OperationKind::Refused { .. })
    }
}

/// The answer that a client got to a change: acknowledged, refused, or that it will never know.
pub struct Answer<'t> {
    /// The event by which it learned.
    pub event: &'t Event,
    /// The section that made the change, if known.
    pub section: Option<usize>,
    /// The register or stock.
    pub key: usize,
}

impl<'t> History<'t> {
    /// The granted sections with their grants, in grant order.
    pub fn grants(&self) -> impl Iterator<Item = (&Section<'t>, &Granted<'t>)> {
        self.granted
            .iter()
            .filter_map(|at| self.sections[*at].grant.as_ref().map(|g| (&self.sections[*at], g)))
    }

    /// True if a host is a server that does not report the records that it keeps.
    #[must_use]
    pub fn is_silent(&self, host: HostId) -> bool {
        self.trace.hosts.get(usize::from(host.0)).is_some_and(|info| info.silent)
    }

    /// True if it is known what the stores kept of locks: none is silent, and what they made for grants is known to be theirs.
    /// Where nothing was granted, none need have made anything.
    #[must_use]
    pub fn sees_records(&self) -> bool {
        let silent = self.trace.hosts.iter().any(|host| host.silent);
        !silent && (self.granted.is_empty() || self.trace.quorum == 0 || self.knows_records())
    }

    /// True if a host counts leases by its wall clock, which may be stepped.
    pub(super) fn steps_leases(&self, host: HostId) -> bool {
        let info = self.trace.hosts.get(usize::from(host.0));
        info.is_none_or(|info| info.lease_clock == LeaseClock::Wall)
    }

    /// When a lease of this span that a host's clock began to count at `from` is over.
    #[must_use]
    pub fn lease_end(&self, host: HostId, from: TrueTime, span: Duration) -> TrueTime {
        self.walls.get(&host).map_or(from + span, |wall| wall.after(from, span))
    }

    /// True if a store made a record of which it is known that it is a lock's.
    #[must_use]
    pub fn knows_records(&self) -> bool {
        self.records.iter().any(|record| record.created.grant.is_some())
    }

    /// The record that two locks have in common.
    #[must_use]
    pub fn shared_by(&self, one: usize, other: usize) -> Option<&SharedRecord<'t>> {
        self.shared
            .iter()
            .find(|shared| one != other && [one, other].iter().all(|key| shared.locks.contains(key)))
    }

    /// The index of a section.
    #[must_use]
    pub fn place_of(&self, id: GrantId) -> Option<usize> {
        self.named.get(&id).copied()
    }

    /// True if the section that sent a request is known. Tasks of one client may share a connection whose own task writes
    /// for all of them: then the section for which a store did something is not known. Nor is it where a client reports
    /// only that it holds: where one of its sections ends and the next begins, nobody knows.
    #[must_use]
    pub fn knows_origins(&self) -> bool {
        let is_known = |section: &Section<'_>| section.asked.is_some() || section.grant.is_none();
        !self.has_tasks() && self.sections.iter().all(is_known)
    }

    /// True if a client has several tasks, which may share a connection.
    pub(super) fn has_tasks(&self) -> bool {
        self.sections.iter().any(|section| section.id.task != 0)
    }

    /// The sections of one task of a client from this one to that one, in their order.
    pub fn sections_between(&self, from: GrantId, to: GrantId) -> impl Iterator<Item = &Section<'t>> {
        let named = self.named.range(from..=to).filter(move |(id, _)| id.task == from.task);
        named.map(|(_, at)| &self.sections[*at])
    }

    /// Where a grant stands in the grant order of the run: what a finding says of several is said in this order. Sections
    /// that were never granted come after all that were, in order of appearance.
    #[must_use]
    pub fn order_of(&self, id: GrantId) -> (usize, usize) {
        let place = self.place_of(id);
        let grant = place.and_then(|at| self.sections[at].grant.as_ref());
        (grant.map_or(usize::MAX, |grant| grant.rank), place.unwrap_or(usize::MAX))
    }

    /// The records that stores and replicas kept of a section, in order of creation.
    pub fn records_of(&self, section: &Section<'t>) -> impl Iterator<Item = &Record<'t>> {
        section.records.iter().map(|at| &self.records[*at])
    }

    /// True if the record's host died, or ceased to take writes, between its creation and this instant.
    #[must_use]
    pub fn is_upset(&self, record: &Record<'_>, until: TrueTime) -> bool {
        self.host_changes.iter().any(|event| {
            event.host == record.created.host
                && (record.created.at..=until).contains(&event.at)
                && matches!(event.what, What::Crashed { .. } | What::StoppedLeading)
        })
    }

    /// When the host of a section's client died first, at this instant or after it.
    #[must_use]
    pub fn death_of(&self, section: &Section<'t>, from: TrueTime) -> Option<&'t Event> {
        let died = |event: &&Event| {
            event.host == section.id.client && event.at >= from && matches!(event.what, What::Crashed { .. })
        };
        self.host_changes.iter().copied().find(died)
    }

    /// The name of a key as reports print it.
    #[must_use]
    pub fn key_name(&self, key: usize) -> &'t str {
        self.keys[key].as_str()
    }
}

impl<'t> Section<'t> {
    /// Its client's steps at an instant and after it.
    pub fn steps_since(&self, at: TrueTime) -> impl Iterator<Item = &'t Event> {
        self.steps.iter().copied().filter(move |event| event.at >= at)
    }

    /// From when until when the section waited within `from..until`; none if it asked for nothing.
    #[must_use]
    pub fn wait_within(&self, from: TrueTime, until: TrueTime) -> Option<(TrueTime, TrueTime)> {
        let answered = self.answered.map_or(until, |event| event.at);
        self.asked.map(|asked| (asked.at.max(from), answered.min(until)))
    }

    /// How long the section waited within `from..until`, a wait that never ended counting up to `until`.
    #[must_use]
    pub fn waited_within(&self, from: TrueTime, until: TrueTime) -> Duration {
        self.wait_within(from, until).map_or(Duration::ZERO, |(asked, answered)| answered.since(asked))
    }
}
