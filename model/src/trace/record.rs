//! The whole record of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::applied::Applied;
use super::belief::{Belief, Exclusion};
use super::condition::Conditions;
use super::digest::Digest;
use super::event::{Event, What};
use super::outage::Outage;
use super::vocabulary::Vocabulary;
use crate::ids::{GrantId, HostId};
use crate::time::TrueTime;

/// The role of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs a client of the lock.
    Client,
    /// Takes writes from the start; its index among the independent stores.
    #[serde(alias = "store")]
    Leader,
    /// Keeps the same data as a leader, and can take its place.
    #[serde(alias = "replica")]
    Follower,
    /// Keeps no data: it watches a store together with others, and makes one of its followers the leader.
    #[serde(alias = "watcher")]
    Monitor,
    /// Keeps no data: it carries what clients and a store say to each other.
    Proxy,
    /// Keeps no data: it renews at a store the leases of clients.
    Renewer,
    /// The guarded resource.
    Resource,
}

/// The clock by which a host counts leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseClock {
    /// The wall clock, which may be stepped.
    #[default]
    Wall,
    /// The monotonic clock, which only runs fast or slow.
    Monotonic,
}

impl LeaseClock {
    fn is_wall(&self) -> bool {
        *self == LeaseClock::Wall
    }
}

/// A host as a trace names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Its name, such as `client-1`.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The store that it is a member of, counted from 1; 0 if of none.
    #[serde(skip)]
    pub store: u32,
    /// The group in it that has a leader of its own: a store with its replicas, a shard, an ensemble.
    #[serde(skip)]
    pub group: u32,
    /// True if it is a server that does not report the records that it keeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// The clock by which it counts leases, if it is a server.
    #[serde(default, skip_serializing_if = "LeaseClock::is_wall")]
    pub lease_clock: LeaseClock,
    /// The words of its product, if it is a server.
    #[serde(skip)]
    pub vocabulary: Vocabulary,
}

/// The name of the client that asks for every key at the end.
pub const FINAL_CLIENT: &str = "final-client";

impl HostInfo {
    /// The name by which all that is random for it is drawn: the final client keeps the name that it had when the digests of the
    /// first repro files were taken.
    #[must_use]
    pub fn drawn_as(&self) -> &str {
        if self.name == FINAL_CLIENT { "latecomer" } else { &self.name }
    }

    /// A host that is no member of a store.
    #[must_use]
    pub fn new(name: &str, role: Role) -> HostInfo {
        let name = name.to_owned();
        HostInfo {
            name,
            role,
            store: 0,
            group: 0,
            silent: false,
            lease_clock: LeaseClock::default(),
            vocabulary: Vocabulary::default(),
        }
    }
}

/// The whole record of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The hosts; a [`HostId`] is an index into them.
    pub hosts: Vec<HostInfo>,
    /// How the design's holders come to believe.
    pub belief: Belief,
    /// Which of its grants exclude each other.
    #[serde(default)]
    pub exclusion: Exclusion,
    /// True if an owner that holds may acquire once more, from any section of its client.
    #[serde(default)]
    pub reentrant: bool,
    /// True if a section may take up the record that an earlier one of its client has left, though no section acquires twice.
    #[serde(default)]
    pub takes_up: bool,
    /// True if the record of a lock counts only as long as the key of its client's session, which the request that creates the record
    /// keeps first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sessions: bool,
    /// How many stores must have created the record before the lock is granted; 0 for a design without stores.
    pub quorum: u32,
    /// The design's lease time in nanoseconds.
    #[serde(rename = "ttl_ns", with = "crate::time::serde_ns")]
    pub ttl: Duration,
    /// While nothing is broken that the design does not survive, a waiter gets the lock within this span, or it is blocked.
    #[serde(rename = "progress_bound_ns", with = "crate::time::serde_ns")]
    pub progress_bound: Duration,
    /// The conditions that the design claims to survive.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub survives: Conditions,
    /// The time that stores that do not answer add to the bound while fewer than half of them are down.
    #[serde(rename = "detour_ns", with = "crate::time::serde_ns", default)]
    pub detour: Duration,
    /// How long a store may keep what a client held whose host lost its power: nothing shows the store that the client is gone.
    /// Zero where a grant does not end with a connection.
    #[serde(
        rename = "silent_client_ns",
        with = "crate::time::serde_ns",
        default,
        skip_serializing_if = "Duration::is_zero"
    )]
    pub silent_client: Duration,
    /// How long a client may wait for the answer of a store whose host lost its power. Zero where a client waits for less than
    /// the bound.
    #[serde(
        rename = "silent_store_ns",
        with = "crate::time::serde_ns",
        default,
        skip_serializing_if = "Duration::is_zero"
    )]
    pub silent_store: Duration,
    /// The end of the run.
    pub end: TrueTime,
    /// The fault names of the plan's injections, by index.
    pub faults: Vec<String>,
    /// The events in true-time order; those of one instant in order of emission.
    pub events: Vec<Event>,
    /// The digest of the events.
    pub digest: Digest,
    /// The fresh client that asks for every key at the end, if the plan has one.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "latecomer")]
    pub final_client: Option<FinalClient>,
    /// Where injections made a difference and to whom, in order of time; each place once for each attempt of a section.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "strikes")]
    pub hits: Vec<Hit>,
    /// The outages that faults caused, in the order of their beginnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// When each section began an attempt to acquire, in order; none where a lock does not say that it asks again.
    #[serde(skip)]
    pub attempts: BTreeMap<GrantId, Vec<TrueTime>>,
}

/// The fresh client that asks for every key once all others are done and all faults have healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalClient {
    /// Its host.
    pub host: HostId,
    /// When it was let in; `None` if the run ended before that.
    pub came: Option<TrueTime>,
}

/// An injection made a difference somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The index of the injection in the plan.
    pub injection: u32,
    /// When it did so first.
    pub at: TrueTime,
    /// The host hit: the one that halted, died or had its clock changed; the sender of a message.
    pub host: HostId,
    /// The grant in whose service the host was, or the message.
    pub grant: Option<GrantId>,
}

impl Trace {
    /// The requests that a simulated store refused because it does not have them, in the order of time.
    pub fn not_modelled(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.what {
            What::NotModelled { name } => Some(name.as_str()),
            _ => None,
        })
    }

    /// The name of a host; `?` if the trace does not know it (a damaged file).
    #[must_use]
    pub fn host_name(&self, host: HostId) -> &str {
        self.hosts.get(usize::from(host.0)).map_or("?", |info| info.name.as_str())
    }

    /// A fault action that was applied, in words.
    #[must_use]
    pub fn words(&self, applied: &Applied) -> String {
        applied.words(|host| self.host_name(host))
    }

    /// The words of the product that a host runs.
    #[must_use]
    pub fn vocabulary(&self, host: HostId) -> Vocabulary {
        self.hosts.get(usize::from(host.0)).map(|info| info.vocabulary).unwrap_or_default()
    }

    /// True for a record that has become the first of its queue because the one before it has just gone: it was created before.
    #[must_use]
    pub fn is_next_in_queue(&self, first: &Event) -> bool {
        let What::Created { key } = &first.what else { return false };
        let before = &self.events[..self.events.partition_point(|event| event.id < first.id)];
        let mut with_it = before.iter().rev().take_while(|event| event.at == first.at);
        let gone = |what: &What| matches!(what, What::Deleted { key: gone } | What::Expired { key: gone, .. } if gone == key);
        self.vocabulary(first.host).queues
            && with_it.any(|event| event.host == first.host && gone(&event.what))
    }

    /// True if this is the host of the fresh client that comes at the end.
    #[must_use]
    pub fn is_final_client(&self, host: HostId) -> bool {
        self.final_client.is_some_and(|final_client| final_client.host == host)
    }

    /// The role of a host.
    #[must_use]
    pub fn role(&self, host: HostId) -> Option<Role> {
        self.hosts.get(usize::from(host.0)).map(|info| info.role)
    }
}
