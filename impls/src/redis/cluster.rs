//! The `watchdog` design on a Redis Cluster: three shards, each a primary with an asynchronous replica, which the primaries elect in the
//! place of one that is lost.
//!
//! *Claim:* the lock survives the loss of a node, without a Sentinel.
//! *Weakness:* replication is asynchronous, so a grant that was not yet replicated is lost in a failover and granted again. A primary
//! that a split hides goes on granting to the clients on its side for one to one and a half node timeouts; then it refuses, so that the
//! window is bounded: the last lease that it grants or renews may meet a holder on the other side. One that restarts empty before a replica was elected refuses for two seconds and has forgotten what it granted.
//! The client sends a command again whose answer does not come, as cluster clients do: a SET NX that was executed is then answered with no,
//! and the lock is nobody's for a lease.
//! *Source:* "Redis cluster specification", redis.io; `cluster.c` of Redis 7.0.
//!
//! All keys of a lock are in one slot, as its scripts need: the name of the lock is the hash tag. A lock of one key needs no braces.

use picklock_redis::RedisCluster;
use picklock_sim::design::{Context, Design, Family, Topology};
use picklock_sim::lock::LockError;
use picklock_sim::param::{Param, Word};
use picklock_sim::params;

use super::common::{OneStore, on_stores_renewed};
use super::single::Single;
use crate::client::cluster::{ClusterConnection, Silent};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, Policy, RENEWAL_ON, RETRY, TIMEOUT};

/// The family of designs on a cluster.
pub(crate) static FAMILY: Family = Family {
    name: "cluster",
    claim: "watchdog on a Redis Cluster of three shards with replicas: survives the loss of a node",
    weakness: "a grant that was not yet replicated is lost in a failover; a primary that is cut off grants until its node timeout",
    source: "Redis cluster specification (redis.io)",
    params: params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON, SILENT],
    build: |args| {
        let topology = Topology { stores: 1, replicated: true };
        let silent = if args.get(SILENT) == "ask" { Silent::Ask } else { Silent::Resend };
        let design: Design =
            on_stores_renewed(args, topology, move |context, policy| connect(context, policy, silent));
        design.on_stores(topology, RedisCluster::of(SHARDS))
    },
};

/// What the client does when a node is silent.
const SILENT: Param<Word> = Param {
    name: "silent",
    domain: Word(&["ask", "resend"]),
    default: "ask",
    doc: "what the client does when a node sends no reply in time: it asks the others where the slot is now, as redis-py does, or sends \
          the command to the same node again, as redis-rs does",
};

/// How many shards the cluster has: the fewest of which one can be lost.
const SHARDS: u32 = 3;

async fn connect(
    context: Context,
    policy: Policy,
    silent: Silent,
) -> Result<Single<ClusterConnection>, LockError> {
    let redis = ClusterConnection::to(&context, policy.timeout(context.ttl), silent)?;
    // A cluster that cannot be reached now may be reached by the first acquire.
    let _ = redis.connect().await;
    Ok(Single { store: OneStore::over(redis, &context, policy) })
}
