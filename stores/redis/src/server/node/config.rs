//! The parameters on which a node acts. The others are only kept.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::server::store::Policy;

/// The port of a node.
pub const PORT: u16 = 6379;

/// A node's configuration.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The parameters that were set, by name.
    pub(crate) set: BTreeMap<&'static str, String>,
    /// `requirepass`; empty if there is none.
    pub(crate) password: Vec<u8>,
    /// The most memory that the dataset may take, in bytes; 0 without limit.
    pub(crate) maxmemory: u64,
    /// The policy of eviction.
    pub(crate) policy: Policy,
    /// `notify-keyspace-events`: a bit for each letter.
    pub(crate) notifications: u128,
    pub(crate) replica_read_only: bool,
    pub(crate) replica_serve_stale_data: bool,
    /// How many replicas must be there for a write, and how long each may have been silent, in seconds.
    pub(crate) min_replicas: usize,
    pub(crate) min_replicas_max_lag: i64,
    /// The longest bulk string that a client may send, in bytes.
    pub(crate) bulk_max: i64,
    /// How much unanswered input a client may have, in bytes.
    pub(crate) query_max: usize,
    /// The time that a script keeps all others waiting before they are answered that it is busy, in milliseconds.
    pub(crate) busy_ms: u64,
    /// The port at which clients reach it.
    pub(crate) port: u16,
    /// The redirection of clients to another port, where they are real.
    pub(crate) mover: Option<Mover>,
    /// The most clients at a time.
    pub(crate) clients_max: usize,
    /// The name of this life of the process: 40 hexadecimal digits.
    pub(crate) run_id: String,
    /// How many steps of the Lua machine a script may take before it is one that never ends, if nothing watches it.
    pub(crate) script_steps: u32,
    /// Where real clients wait: a script that has run for [`busy_ms`](Config::busy_ms) is one that never ends.
    pub(crate) watch: Option<Watch>,
    /// How much may wait to be read by clients, replicas and listeners: `client-output-buffer-limit`.
    pub(crate) output: [OutputLimit; 3],
    /// `protected-mode`.
    pub(crate) protected: bool,
}

/// Has clients come to a node through another port; false if that cannot be. It is handed in: a node knows no sockets.
#[derive(Clone)]
pub(crate) struct Mover(pub(crate) Arc<dyn Fn(u16) -> bool + Send + Sync>);

impl fmt::Debug for Mover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mover")
    }
}

/// Watches a script that real clients wait for: given how long it may run, says when asked whether it is to be stopped. It is
/// handed in: a node reads no clock of the machine.
#[derive(Clone)]
pub(crate) struct Watch(pub(crate) Arc<dyn Fn(Duration) -> IsOver + Send + Sync>);

/// True if what was begun is to be stopped.
pub(crate) type IsOver = Box<dyn Fn() -> bool + Send>;

impl Config {
    /// The number of steps that the next script may take, after so many endless ones. Each halves it: a client that calls them over and
    /// over must not hold up a campaign either.
    pub(crate) fn patience(&self, endless: u32) -> u32 {
        let steps = self.script_steps;
        steps.checked_shr(endless).unwrap_or(0).max(STEPS_MIN.min(steps))
    }

    /// Begins to watch a script, where that is done. Without a threshold for BUSY it may run for ever.
    pub(crate) fn watch_script(&self) -> Option<IsOver> {
        let Watch(begin) = self.watch.as_ref()?;
        Some(begin(if self.busy_ms == 0 { Duration::MAX } else { Duration::from_millis(self.busy_ms) }))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// How much a connection may leave unread before it is closed, in bytes; 0 without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputLimit {
    /// It is closed at once with more than this.
    pub(crate) hard: u64,
    /// It is closed once it has had more than this for so many seconds.
    pub(crate) soft: u64,
    pub(crate) soft_s: u64,
}

/// How many steps a script may take in a simulated world, where a script that never ends must not hold up a campaign: Lua
/// takes them in less than half a second.
const SCRIPT_STEPS: u32 = 50_000_000;

/// The least number of steps that a script may take, whatever ran before it: some milliseconds.
const STEPS_MIN: u32 = 1_000_000;

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
            bulk_max: 512 << 20,
            query_max: 1 << 30,
            busy_ms: 5_000,
            port: PORT,
            mover: None,
            clients_max: 10_000,
            run_id: "0000000000000000000000000000000000000001".to_owned(),
            script_steps: SCRIPT_STEPS,
            watch: None,
            output: [
                OutputLimit::default(),
                OutputLimit { hard: 256 << 20, soft: 64 << 20, soft_s: 60 },
                OutputLimit { hard: 32 << 20, soft: 8 << 20, soft_s: 60 },
            ],
            protected: true,
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
