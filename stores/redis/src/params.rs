//! The parameters of Redis stores.

use std::time::Duration;

use picklock_sim::param::{Count, HOUR, OneSpan, Param, Word};
use picklock_sim::params;

/// How many replicas a replicated store has.
pub const REPLICAS: Param<Count> =
    Param { name: "replicas", domain: Count(1, 8), default: "1", doc: "replicas of each replicated store" };

/// The data that a store keeps over a restart.
pub const PERSISTENCE: Param<Word> = Param {
    name: "persistence",
    domain: Word(&["none", "rdb", "everysec", "always"]),
    default: "none",
    doc: "what a store keeps over a restart: nothing, its last snapshot, all but the last second, or every write",
};

/// How long a primary is silent until a Sentinel holds it for down.
pub const DOWN_AFTER: Param<OneSpan> = Param {
    name: "down_after",
    domain: OneSpan { min: Duration::from_millis(1), max: HOUR },
    default: "0.2 x ttl",
    doc: "a Sentinel holds a primary for down that is silent for this long",
};

/// How long a node of a cluster is silent until the others suspect it.
pub const NODE_TIMEOUT: Param<OneSpan> = Param {
    name: "node_timeout",
    domain: OneSpan { min: Duration::from_millis(1), max: HOUR },
    default: "0.2 x ttl",
    doc: "a node of a cluster is suspected that is silent for this long, and a primary that reaches no majority for this long \
              refuses, in whole milliseconds (cluster-node-timeout)",
};

pub(crate) const MIN_REPLICAS: Param<Count> = Param {
    name: "min_replicas",
    domain: Count(0, 8),
    default: "0",
    doc: "a replicated store takes writes only while so many replicas acknowledge them (min-replicas-to-write)",
};

pub(crate) const MAX_LAG: Param<OneSpan> = Param {
    name: "max_lag",
    domain: OneSpan { min: Duration::from_secs(1), max: HOUR },
    default: "10s",
    doc: "how long ago these may have done so last, in whole seconds (min-replicas-max-lag)",
};

/// The version that the servers are of.
pub(crate) const VERSION: Param<Word> = Param {
    name: "version",
    domain: Word(&["7.0", "7.2", "7.4", "8.0", "8.4", "valkey-8.1", "valkey-9.0"]),
    default: "7.0",
    doc: "the version of Redis, or of Valkey, that a store behaves like; a design that needs a later one has that",
};

/// All of those of independent and of replicated stores.
pub const PARAMS: &[Param] = params![REPLICAS, PERSISTENCE, DOWN_AFTER, MIN_REPLICAS, MAX_LAG, VERSION];

/// How many replicas each shard of a cluster has.
pub(crate) const SHARD_REPLICAS: Param<Count> =
    Param { name: "replicas", domain: Count(0, 8), default: "1", doc: "replicas of each shard of a cluster" };

/// All of those of clusters.
pub const CLUSTER_PARAMS: &[Param] = params![SHARD_REPLICAS, PERSISTENCE, NODE_TIMEOUT, VERSION];
