//! The `watchdog` design on a primary with asynchronous replicas, one of which three Sentinels promote when the primary
//! does not answer.
//!
//! *Claim:* the lock survives the loss of the store.
//! *Weakness:* replication is asynchronous. A grant that was acknowledged but not yet replicated is unknown to the
//! promoted replica, which grants the lock again; so does a primary that a partition hides, to the clients on its side,
//! until it is demoted and its writes vanish.
//! *Source:* "Why Failover-based Implementations Are Not Enough" in "Distributed Locks with
//! Redis", redis.io.

use picklock_sim::design::{Family, Topology};
use picklock_sim::params;

use super::common::on_stores_renewed;
use super::single::Single;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, RENEWAL_ON, RETRY, TIMEOUT};

/// The family of designs on a replicated store.
pub(crate) static FAMILY: Family = Family {
    name: "replicated",
    claim: "watchdog on a primary with asynchronous replicas and failover: survives the loss of the store",
    weakness: "a grant that was not yet replicated is lost in a failover, and granted again",
    source: "Distributed Locks with Redis (redis.io), why failover-based implementations are not enough",
    params: params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON],
    build: |args| {
        let topology = Topology { stores: 1, replicated: true };
        on_stores_renewed(
            args,
            topology,
            |context, policy| async move { Single::connect(&context, policy).await },
        )
    },
};
