//! The state that the log of etcd is about: keys and leases, alike on every member, and beside them what one member alone has: who watches,
//! and who waits for an answer.

mod checks;
pub(crate) mod data;
mod keys;
mod leases;
mod locks;
mod objects;
mod saved;
mod transaction;
mod watch;

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_raft::{Applied, Role, State};
use picklock_sim::host::{Host, Origin};
use prost::{Message as _, Oneof};
use tokio::sync::oneshot;

use crate::grpc::status::Status;
use crate::messages::{
    CompactionRequest, DeleteRangeRequest, DeleteRangeResponse, Header, LeaseGrantRequest, PutRequest,
    PutResponse, RangeRequest, RangeResponse, TxnRequest, TxnResponse, WatchEvent,
};
pub(crate) use checks::{check_delete, check_put, check_range, check_transaction};
pub(crate) use keys::{Keys, Range};
pub(crate) use leases::Leases;
use locks::Locks;
pub use objects::HolderOf;
pub(crate) use objects::Objects;
use transaction::Change;
pub(crate) use transaction::{is_serializable, only_reads};
pub(crate) use watch::{Notice, Watch};

/// All members call their cluster by this number.
const CLUSTER: u64 = 0x1ce0_0e7c_d000_0001;

/// The file that says up to which entry the simulator has heard of locks, so that a restart does not report them once more.
const REPORTED: &str = "reported-to-the-simulator";

/// A change of the state, as the log has it.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Command {
    /// The number of the request, by which the member that got it knows it.
    #[prost(uint64, tag = "1")]
    pub(crate) request: u64,
    #[prost(oneof = "Order", tags = "2, 3, 4, 5, 6, 7")]
    pub(crate) order: Option<Order>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Order {
    #[prost(message, tag = "2")]
    Put(PutRequest),
    #[prost(message, tag = "3")]
    Delete(DeleteRangeRequest),
    #[prost(message, tag = "4")]
    Txn(TxnRequest),
    #[prost(message, tag = "5")]
    Grant(LeaseGrantRequest),
    #[prost(message, tag = "6")]
    Revoke(Revoke),
    #[prost(message, tag = "7")]
    Compact(CompactionRequest),
}

/// The end of a lease.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Revoke {
    #[prost(int64, tag = "1")]
    pub(crate) id: i64,
    /// True if it has run out, false if somebody has asked for its end.
    #[prost(bool, tag = "2")]
    pub(crate) has_run_out: bool,
    /// How long ago it ran out when that was seen, in nanoseconds: for the trace.
    #[prost(uint64, tag = "3")]
    pub(crate) overdue_ns: u64,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Done {
    Put(PutResponse),
    Delete(DeleteRangeResponse),
    Txn(TxnResponse),
    /// The lease is granted, or ended, or the history is compacted.
    Carried,
}

/// The answer to a request, with the header of that moment.
pub(crate) type Answer = Result<(Header, Done), Status>;

/// The state of a member.
pub(crate) struct Machine {
    /// Its number.
    member: u64,
    /// An election timeout: a new leader gives every lease so much more.
    election: Duration,
    pub(crate) keys: Keys,
    pub(crate) leases: Leases,
    locks: Locks,
    pub(crate) objects: Objects,
    /// Up to this entry the simulator has heard of locks.
    reported: u64,
    term: u64,
    pub(crate) applied: u64,
    leads: bool,
    watches: BTreeMap<u64, Watch>,
    last_watch: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Answer>>,
    last_request: u64,
    /// Those who wait for a lease that has run out to be ended, or for the end of this member's time as a leader.
    ending: Vec<(i64, oneshot::Sender<bool>)>,
}

impl Machine {
    pub(crate) fn new(host: &Host, member: u64, election: Duration, objects: Objects) -> Machine {
        let reported = host.disk().read(REPORTED).try_into().map_or(0, u64::from_le_bytes);
        Machine {
            member,
            election,
            keys: Keys::default(),
            leases: Leases::default(),
            locks: Locks::default(),
            objects,
            reported,
            term: 0,
            applied: 0,
            leads: false,
            watches: BTreeMap::new(),
            last_watch: 0,
            waiting: BTreeMap::new(),
            // Another life of the same member must not take an old answer for its own.
            last_request: (member << 48) | host.rng().below(1 << 40),
            ending: Vec::new(),
        }
    }

    /// A header of this moment.
    pub(crate) fn header(&self) -> Header {
        Header {
            cluster_id: CLUSTER,
            member_id: self.member,
            revision: self.keys.revision,
            raft_term: self.term,
        }
    }

    /// A number for a request, and where its answer comes.
    pub(crate) fn expect(&mut self) -> (u64, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        self.last_request += 1;
        self.waiting.insert(self.last_request, sender);
        (self.last_request, answer)
    }

    /// Nobody waits for this request any more.
    pub(crate) fn forget(&mut self, request: u64) {
        self.waiting.remove(&request);
    }

    /// What a request for a range finds.
    ///
    /// # Errors
    /// For a revision that is to come, or that is forgotten.
    pub(crate) fn range(&self, request: &RangeRequest) -> Result<RangeResponse, Status> {
        if request.revision > self.keys.revision {
            return Err(Status::future_revision());
        }
        if request.revision > 0 && request.revision < self.keys.compacted {
            return Err(Status::compacted());
        }
        Ok(RangeResponse { header: Some(self.header()), ..self.keys.range(request) })
    }

    /// A transaction that only reads.
    pub(crate) fn read(&mut self, request: &TxnRequest) -> Result<TxnResponse, Status> {
        let header = Some(self.header());
        let revision = self.keys.revision;
        let mut change = Change { keys: &mut self.keys, leases: &mut self.leases, revision };
        Ok(TxnResponse { header, ..change.transact(request)? })
    }

    /// Begins to watch, from its first revision on: with what has happened since. The number of the watch here. A real member sends what has
    /// happened within a tenth of a second, this one at once.
    pub(crate) fn watch(&mut self, watch: Watch) -> u64 {
        if watch.from != 0 {
            let changes = self.keys.since(watch.from);
            let mut events: Vec<WatchEvent> = changes.iter().map(|change| change.event.clone()).collect();
            // What a key was before is read at the revision before, which may be forgotten.
            let is_known = |event: &WatchEvent| {
                event.kv.as_ref().is_some_and(|kv| kv.mod_revision > self.keys.compacted)
            };
            events.iter_mut().filter(|event| !is_known(event)).for_each(|event| event.prev_kv = None);
            watch.notice(Origin::default(), self.header(), &events);
        }
        self.last_watch += 1;
        self.watches.insert(self.last_watch, watch);
        self.last_watch
    }

    pub(crate) fn unwatch(&mut self, watch: u64) {
        self.watches.remove(&watch);
    }

    /// Renews a lease, if this member leads; none if there is no such lease, or it is over. Where it has run out and nobody has ended it yet,
    /// that has to be waited for: true once it is ended, false if this member does not lead any more.
    pub(crate) fn renew(&mut self, host: &Host, origin: Origin, id: i64) -> Result<Option<i64>, Renewal> {
        // A leader keeps the leases once its first entry is applied.
        if !self.leases.are_kept_here() {
            return Err(Renewal::Elsewhere);
        }
        let now = host.monotonic();
        let Some(lease) = self.leases.get(id) else { return Ok(None) };
        if lease.has_run_out(now) {
            let (sender, ended) = oneshot::channel();
            self.ending.push((id, sender));
            return Err(Renewal::Ending(ended));
        }
        for (origin, key) in self.locks.of_lease(lease, origin) {
            host.record(origin, What::Extended { key });
        }
        Ok(self.leases.renew(id, now))
    }

    fn carry_out(&mut self, now: Monotonic, order: &Order) -> Result<Done, Status> {
        let Machine { keys, leases, .. } = self;
        let revision = keys.revision + 1;
        let mut change = Change { keys, leases, revision };
        match order {
            Order::Put(request) => change.put(request).map(Done::Put),
            Order::Delete(request) => Ok(Done::Delete(change.delete(request))),
            Order::Txn(request) => change.transact(request).map(Done::Txn),
            Order::Grant(request) => match leases.grant(request.id, request.ttl, now) {
                true => Ok(Done::Carried),
                false => Err(Status::lease_exists()),
            },
            Order::Revoke(Revoke { id, .. }) => {
                let lease = leases.remove(*id).ok_or_else(Status::lease_not_found)?;
                for key in &lease.keys {
                    keys.delete(Range { key, end: b"" }, revision);
                }
                for (_, waits) in self.ending.extract_if(.., |(waiting, _)| waiting == id) {
                    // Who waited may be gone.
                    let _ = waits.send(true);
                }
                Ok(Done::Carried)
            }
            Order::Compact(request) if request.revision <= keys.compacted => Err(Status::compacted()),
            Order::Compact(request) if request.revision > keys.revision => Err(Status::future_revision()),
            Order::Compact(request) => {
                keys.compact(request.revision);
                Ok(Done::Carried)
            }
        }
    }

    /// Has everybody know what an entry has changed.
    fn make_known(&mut self, host: &Host, by: By, before: i64) {
        let changes: Vec<WatchEvent> =
            self.keys.since(before + 1).iter().map(|change| change.event.clone()).collect();
        if changes.is_empty() {
            return;
        }
        let mut said = self.locks.after(&self.keys, &changes, (by.origin, by.overdue_ns));
        said.extend(self.objects.after(host, &changes, by.origin));
        if by.is_own {
            said.extend(data::written(&changes, by.origin));
        }
        if by.index > self.reported {
            said.into_iter().for_each(|(origin, what)| host.record(origin, what));
            self.reported = by.index;
            host.disk().write(REPORTED, &by.index.to_le_bytes());
            host.disk().sync(REPORTED);
        }
        let header = self.header();
        for watch in self.watches.values() {
            watch.notice(by.origin, header, &changes);
        }
    }

    fn stop_leading(&mut self) {
        self.leads = false;
        self.leases.follow();
        self.ending.drain(..).for_each(|(_, waits)| _ = waits.send(false));
    }
}

/// What has changed keys.
#[derive(Clone, Copy)]
struct By {
    /// The place of the entry in the log.
    index: u64,
    /// The message that brought it about.
    origin: Origin,
    /// How long ago the lease ran out whose end it is, in nanoseconds. None for another change.
    overdue_ns: Option<u64>,
    /// True for an entry of the term in which this member leads.
    is_own: bool,
}

/// Why a renewal has no answer yet.
pub(crate) enum Renewal {
    /// Another member leads, or nobody.
    Elsewhere,
    /// The lease has run out, and its end is on its way.
    Ending(oneshot::Receiver<bool>),
}

impl State for Machine {
    fn apply(&mut self, host: &Host, applied: Applied<'_>) {
        self.applied = applied.index;
        self.term = self.term.max(applied.term);
        let Some(data) = applied.data else {
            // The first entry of a leader: all earlier ones are applied, and what it has is what it answers by.
            if self.leads && applied.term == self.term {
                host.record(Origin::default(), What::BecameLeader);
                self.leases.lead(host.monotonic(), self.election);
            }
            return;
        };
        // What cannot be read was written by nobody.
        let Ok(Command { request, order: Some(order) }) = Command::decode(data) else { return };
        let before = self.keys.revision;
        let done = self.carry_out(host.monotonic(), &order);
        let overdue_ns = match &order {
            Order::Revoke(Revoke { has_run_out: true, overdue_ns, .. }) => Some(*overdue_ns),
            _ => None,
        };
        let is_own = self.leads && applied.term == self.term;
        let by = By { index: applied.index, origin: applied.origin, overdue_ns, is_own };
        self.make_known(host, by, before);
        if let Some(waits) = self.waiting.remove(&request) {
            // Who waited may be gone.
            let _ = waits.send(done.map(|done| (self.header(), done)));
        }
    }

    fn turns(&mut self, host: &Host, role: Role, term: u64) {
        self.term = term;
        let leads = role == Role::Leader;
        if !leads && self.leases.are_kept_here() {
            host.record(Origin::default(), What::StoppedLeading);
        }
        if leads {
            self.leads = true;
        } else {
            self.stop_leading();
        }
    }

    fn restore(&mut self, host: &Host, index: u64, state: &[u8]) {
        let Some((keys, leases)) = saved::read(state) else { return };
        let before = std::mem::replace(&mut self.keys, keys).revision;
        (self.leases, self.applied) = (leases, index);
        let by = By { index, origin: Origin::default(), overdue_ns: None, is_own: false };
        self.make_known(host, by, before);
    }

    fn save(&self) -> Vec<u8> {
        saved::written(&self.keys, &self.leases)
    }
}
