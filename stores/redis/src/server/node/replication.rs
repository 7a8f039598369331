//! The place of a node in a replicated store: its history, the primary that it follows, the replicas that
//! follow it.

use std::collections::BTreeMap;

use picklock_model::seed::{Seed, Stream};

use super::config::PORT;
use super::failover::Failover;
use super::ids::SessionId;
use super::settings::Settings;
use crate::server::stream::{History, ReplicationId};

/// A backlog is not smaller than this, in bytes.
const BACKLOG_MIN: usize = 16 * 1024;

/// The part of a node's state that is about replication.
#[derive(Debug)]
pub(crate) struct Replication {
    pub(crate) history: History,
    /// The primary that this node follows; `None` for a primary.
    pub(crate) upstream: Option<Upstream>,
    /// The replicas that this node feeds.
    pub(crate) replicas: Vec<FedReplica>,
    /// The facts that connections have reported about themselves with REPLCONF.
    pub(crate) introduced: BTreeMap<SessionId, Introduced>,
    pub(crate) settings: Settings,
    /// The planned failover that has begun, if one has.
    pub(crate) failover: Option<Failover>,
    /// True if the node has another primary, or none any more, since the server last looked.
    pub(crate) role_changed: bool,
    /// True if the replicas are to be asked what they have.
    pub(crate) wants_acks: bool,
    /// How many replicas have acknowledged lately, as of the last look.
    pub(crate) good_replicas: usize,
    /// When the last replica went, in seconds of the wall clock.
    pub(crate) deserted_s: Option<i64>,
    /// How often the replication cron ran.
    pub(crate) beats: u64,
    names: Stream,
}

/// The primary that a node follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// Its host.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
    /// How far the link is.
    pub(crate) link: LinkState,
    /// True if this node has a part of a history that the primary may be asked to continue.
    pub(crate) resumable: bool,
    /// The database that the stream has selected.
    pub(crate) selected: usize,
    /// The bytes of a transaction whose end has not come yet.
    pub(crate) transaction: Option<Vec<u8>>,
    /// The offset to acknowledge, since the primary has asked.
    pub(crate) requested_ack: Option<u64>,
    /// When the primary was last heard, in seconds of the wall clock.
    pub(crate) heard_s: i64,
    /// Since when the link is down, in seconds of the wall clock; `None` if it never was up.
    pub(crate) down_since_s: Option<i64>,
}

/// How far a replica's link to its primary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// There is none.
    Down,
    /// The connection is being made.
    Connecting,
    /// Both introduce themselves.
    Handshake,
    /// A full copy comes.
    Transfer,
    /// The stream comes.
    Up,
}

/// A replica as the node that feeds it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FedReplica {
    /// The session of its link.
    pub(crate) session: SessionId,
    /// The address that it is known by.
    pub(crate) address: String,
    /// The port that it listens on; 0 if it did not say.
    pub(crate) port: u16,
    /// The offset up to which it has applied the stream.
    pub(crate) acked: u64,
    /// When it last said so, in seconds of the wall clock.
    pub(crate) acked_s: i64,
    /// How many bytes of copies it was sent.
    pub(crate) copied: u64,
    /// The state of the stream.
    pub(crate) feeding: Feeding,
}

/// The state of the stream that a replica is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Feeding {
    /// It is in the copy that the replica will get: one is made for all that come within some seconds.
    InTheCopy {
        /// Since when the replica waits, in seconds of the wall clock.
        since_s: i64,
    },
    /// It is kept until the replica acknowledges the copy, whose end only the replica sees.
    KeptCommand(Vec<u8>),
    /// It is sent.
    Sent,
}

/// The facts that a connection has reported about itself before PSYNC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Introduced {
    pub(crate) port: u16,
    pub(crate) address: Vec<u8>,
    /// It understands a history that goes on under a new name.
    pub(crate) psync2: bool,
    /// It understands a copy that ends with a mark.
    pub(crate) eof: bool,
}

impl Default for Replication {
    fn default() -> Replication {
        Replication {
            history: History::new(ReplicationId::NONE),
            upstream: None,
            replicas: Vec::new(),
            introduced: BTreeMap::new(),
            settings: Settings::default(),
            failover: None,
            role_changed: false,
            wants_acks: false,
            good_replicas: 0,
            deserted_s: None,
            beats: 0,
            names: Seed(0).stream(""),
        }
    }
}

impl Replication {
    /// Draws the names of histories from this seed: another for every life of every node.
    pub(crate) fn rename(&mut self, seed: Seed) {
        self.names = seed.stream("replication identifiers");
        let name = self.new_name();
        self.history.rename(name);
    }

    /// A new name for a history.
    pub(crate) fn new_name(&mut self) -> ReplicationId {
        name(&mut self.names)
    }

    /// Takes up a parameter that was checked, if it is one of replication.
    pub(crate) fn configure(&mut self, name: &str, value: &str) {
        let settings = &mut self.settings;
        // Numbers were checked: what does not fit is a limit that is never reached.
        let number = || value.parse().unwrap_or(i64::MAX);
        match name {
            "masterauth" => settings.password = value.as_bytes().to_vec(),
            "masteruser" => settings.user = value.as_bytes().to_vec(),
            "min-replicas-max-lag" => settings.max_lag_s = number(),
            "repl-backlog-size" => {
                let size = usize::try_from(number()).unwrap_or(usize::MAX).max(BACKLOG_MIN);
                self.history.set_backlog_size(size);
            }
            "repl-backlog-ttl" => settings.backlog_ttl_s = number(),
            "repl-diskless-sync" => settings.diskless = value == "yes",
            "repl-diskless-sync-delay" => settings.diskless_delay_s = number(),
            "repl-diskless-sync-max-replicas" => {
                settings.diskless_enough = usize::try_from(number()).unwrap_or(0);
            }
            "repl-ping-replica-period" => settings.ping_period_s = number().unsigned_abs(),
            "repl-timeout" => settings.timeout_s = number(),
            "replica-announce-ip" => settings.announced_address = value.as_bytes().to_vec(),
            "replica-announce-port" => settings.announced_port = u16::try_from(number()).unwrap_or(0),
            "replica-priority" => settings.priority = number().unsigned_abs(),
            _ => {}
        }
    }

    /// Counts the replicas that have acknowledged lately, in whole seconds as Redis counts.
    pub(crate) fn count_good(&mut self, now_s: i64) {
        let max_lag = self.settings.max_lag_s;
        let good = |replica: &&FedReplica| replica.has_copy() && now_s - replica.acked_s <= max_lag;
        self.good_replicas = self.replicas.iter().filter(good).count();
    }
}

impl FedReplica {
    /// True once its copy is on the way.
    pub(crate) fn has_copy(&self) -> bool {
        !matches!(self.feeding, Feeding::InTheCopy { .. })
    }

    /// How far it is, as INFO says it.
    pub(crate) fn state(&self) -> &'static str {
        if self.has_copy() { "online" } else { "wait_bgsave" }
    }
}

impl Upstream {
    pub(crate) fn new(host: String, port: u16, resumable: bool) -> Upstream {
        Upstream {
            host,
            port,
            link: LinkState::Down,
            resumable,
            selected: 0,
            transaction: None,
            requested_ack: None,
            heard_s: 0,
            down_since_s: None,
        }
    }

    /// The address of a primary: a host, and a port behind a space or a colon if it is not the usual one.
    pub(crate) fn parse(text: &str) -> Upstream {
        let (host, port) = text.split_once(' ').or_else(|| text.rsplit_once(':')).unwrap_or((text, ""));
        // An address of version 6 stands in brackets before a port.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Upstream::new(host.to_owned(), port.parse().unwrap_or(PORT), false)
    }
}

fn name(names: &mut Stream) -> ReplicationId {
    let (a, b, c) = (names.next_u64(), names.next_u64(), names.below(1 << 32));
    let digits = format!("{a:016x}{b:016x}{c:08x}");
    ReplicationId::parse(digits.as_bytes()).unwrap_or(ReplicationId::NONE)
}
