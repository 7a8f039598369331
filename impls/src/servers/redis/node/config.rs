//! What of a node's configuration it acts upon. The rest is only kept.

use std::collections::BTreeMap;

use crate::servers::redis::PORT;
use crate::servers::redis::store::Policy;

/// A node's configuration.
#[derive(Clone, Debug)]
pub(in crate::servers::redis) struct Config {
    /// The parameters that were set, by name.
    pub(in crate::servers::redis) set: BTreeMap<&'static str, String>,
    /// `requirepass`; empty if there is none.
    pub(in crate::servers::redis) password: Vec<u8>,
    /// The most memory that the dataset may take, in bytes; 0 without limit.
    pub(in crate::servers::redis) maxmemory: u64,
    /// What is evicted then.
    pub(in crate::servers::redis) policy: Policy,
    /// `notify-keyspace-events`: a bit for each letter.
    pub(in crate::servers::redis) notifications: u128,
    pub(in crate::servers::redis) replica_read_only: bool,
    pub(in crate::servers::redis) replica_serve_stale_data: bool,
    /// How many replicas must be there for a write, and how long each may have been silent, in seconds.
    pub(in crate::servers::redis) min_replicas: usize,
    pub(in crate::servers::redis) min_replicas_max_lag: i64,
    /// Which commands the slow log keeps, in microseconds; all if 0, none if negative.
    pub(in crate::servers::redis) slow_us: i64,
    pub(in crate::servers::redis) slow_len: usize,
    /// The longest bulk string that a client may send, in bytes.
    pub(in crate::servers::redis) bulk_max: i64,
    /// How much unanswered input a client may have, in bytes.
    pub(in crate::servers::redis) query_max: usize,
    /// How long a script keeps all others waiting before they are told that it is busy, in milliseconds.
    pub(in crate::servers::redis) busy_ms: u64,
    /// The port at which clients reach it.
    pub(in crate::servers::redis) port: u16,
    /// The most clients at a time.
    pub(in crate::servers::redis) clients_max: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            set: BTreeMap::new(),
            password: Vec::new(),
            maxmemory: 0,
            policy: Policy::NoEviction,
            notifications: 0,
            replica_read_only: true,
            replica_serve_stale_data: true,
            min_replicas: 0,
            min_replicas_max_lag: 10,
            slow_us: 10_000,
            slow_len: 128,
            bulk_max: 512 << 20,
            query_max: 1 << 30,
            busy_ms: 5_000,
            port: PORT,
            clients_max: 10_000,
        }
    }
}

/// Which notifications of an event are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    pub(super) keyspace: bool,
    pub(super) keyevent: bool,
}

impl Config {
    /// Which notifications are wanted of a class of events.
    pub(super) fn notifies(&self, class: u8) -> Option<Wants> {
        let has = |letter: u8| self.notifications & 1_u128.wrapping_shl(letter.into()) != 0;
        has(class).then(|| Wants { keyspace: has(b'K'), keyevent: has(b'E') })
    }
}
