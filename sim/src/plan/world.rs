//! The fixed parameters of a world.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::time::serde_ns;

/// The fixed parameters of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// The lease time that clients ask for.
    #[serde(rename = "ttl_ns", with = "serde_ns")]
    pub ttl: Duration,
    /// How long a section waits for the lock before it gives up, on the client's clock.
    #[serde(rename = "wait_ns", with = "serde_ns")]
    pub wait: Duration,
    /// The run ends here at the latest, in true time.
    #[serde(rename = "horizon_ns", with = "serde_ns")]
    pub horizon: Duration,
    /// One-way message latency.
    pub latency: Latency,
    /// An unacknowledged segment breaks its connection after this long (`TCP_USER_TIMEOUT`).
    #[serde(rename = "tcp_timeout_ns", with = "serde_ns")]
    pub tcp_timeout: Duration,
    /// Replicas of each store that has replicas at all.
    pub replicas: u32,
    /// What a store keeps over a restart.
    pub persistence: Persistence,
    /// A Sentinel holds a primary for down that does not answer it for this long.
    #[serde(rename = "down_after_ns", with = "serde_ns")]
    pub down_after: Duration,
    /// How many replicas a store must hear from to take writes.
    #[serde(default, skip_serializing_if = "MinReplicas::is_default")]
    pub min_replicas: MinReplicas,
    /// The stock that the guarded resource starts with.
    pub stock: i64,
}

/// A store takes writes only while this many replicas have acknowledged its stream lately: `min-replicas-to-write` and
/// `min-replicas-max-lag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinReplicas {
    /// How many; 0: a store takes writes with none.
    pub count: u32,
    /// How long ago they may have done so. Redis counts whole seconds; a part of one is counted as one.
    #[serde(rename = "max_lag_ns", with = "serde_ns")]
    pub max_lag: Duration,
}

impl Default for MinReplicas {
    /// As in `redis.conf`.
    fn default() -> MinReplicas {
        MinReplicas { count: 0, max_lag: Duration::from_secs(10) }
    }
}

impl MinReplicas {
    fn is_default(&self) -> bool {
        *self == MinReplicas::default()
    }
}

/// One-way latency of a message: between `min` and `max`, half of the messages in the fastest eighth of that range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The fastest message.
    #[serde(rename = "min_ns", with = "serde_ns")]
    pub min: Duration,
    /// The slowest message.
    #[serde(rename = "max_ns", with = "serde_ns")]
    pub max: Duration,
}

/// What a store keeps over a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// Nothing.
    #[default]
    None,
    /// Every acknowledged write (append-only file, fsync always).
    Always,
    /// What was written a second ago (append-only file, fsync every second); a process that is killed loses nothing.
    #[serde(rename = "everysec")]
    EverySec,
    /// What was there when the last snapshot was made, a second or two ago.
    Rdb,
}
