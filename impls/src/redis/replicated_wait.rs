//! The `replicated` design with `WAIT`: a grant counts only when enough replicas have acknowledged it.
//!
//! *Claim:* the lock survives the loss of the primary, because the replica that is promoted knows of it.
//! *Weakness:* `WAIT` says how many replicas have the write, not that one of them will be promoted; with more replicas than
//! it waits for, one that has not may be. Renewals and releases are not waited for: where a primary is cut off from its
//! replicas, its holder goes on renewing there, and the lease that they know of ends. While there is no replica nothing is
//! granted, and an old primary becomes one about ten seconds after it has come back. A client that does not look at the
//! count (`count=unchecked`) has only waited. And a holder that is paused past its lease is as late as anywhere.
//! *Source:* the Redis documentation of `WAIT`, which says that it does not make a
//! replicated Redis a strongly consistent store.
//!
//! `SET` and `WAIT` go out together on one connection: on another one, `WAIT` would have nothing to wait for. What was
//! not acknowledged in a quarter of the lease is given back. Left out on purpose: `min-replicas-to-write`, which is a
//! matter of the server's configuration.

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family, Topology};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param, Word};
use picklock_sim::params;
use redis::{RedisResult, pipe};

use super::common::{compare_and_delete, millis, on_stores_renewed};
use super::single::Single;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, Failure, RENEWAL_ON, RETRY, TIMEOUT};
use crate::client::renewal::Renew;

/// The family of designs that wait for replicas.
pub(crate) static FAMILY: Family = Family {
    name: "replicated-wait",
    claim: "replicated, and a grant counts only when replicas have acknowledged it: survives the loss of the primary",
    weakness: "a replica that was not waited for may be the one that is promoted",
    source: "Redis documentation, WAIT",
    params: params![REPLICAS, COUNT, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON],
    build,
};

const REPLICAS: Param<Count> = Param {
    name: "wait",
    domain: Count(1, 8),
    default: "1",
    doc: "how many replicas must have acknowledged the grant",
};

const COUNT: Param<Word> = Param {
    name: "count",
    domain: Word(&["checked", "unchecked"]),
    default: "checked",
    doc: "whether the client looks at how many replicas have acknowledged",
};

fn build(args: &Args) -> Design {
    let (replicas, checked) = (args.get(REPLICAS), args.get(COUNT) == "checked");
    let topology = Topology { stores: 1, replicated: true };
    let design = on_stores_renewed(args, topology, move |context, policy| async move {
        Ok(ReplicatedWait { single: Single::connect(&context, policy).await?, replicas, checked })
    });
    Design { needs_replicas: checked, ..design }
}

struct ReplicatedWait {
    single: Single,
    replicas: u64,
    checked: bool,
}

impl ReplicatedWait {
    /// Takes the lock and waits: whether it was free, and how many replicas have acknowledged what this connection
    /// wrote.
    async fn take(&self, key: &Key, owner: &str) -> RedisResult<(bool, u64)> {
        let store = &self.single.store;
        let mut both = pipe();
        both.cmd("SET").arg(key.as_str()).arg(owner).arg("NX").arg("PX").arg(millis(store.ttl));
        both.cmd("WAIT").arg(self.replicas).arg(millis(store.ttl / 4));
        both.query_async(&mut store.redis.clone()).await
    }
}

impl Lock for ReplicatedWait {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let store = &self.single.store;
        let owner = store.host.rng().owner_id();
        let began = store.begin();
        match self.take(key, &owner).await {
            Ok((false, _)) => Ok(None),
            Ok((true, count)) if self.checked && count < self.replicas => {
                if store.policy.failure == Failure::Release {
                    compare_and_delete(&store.redis, key, &owner).await?;
                }
                Err(LockError::new(format!("only {count} of {} replicas acknowledged", self.replicas)))
            }
            Ok((true, _)) => Ok(Some(store.grant(key, owner, began))),
            Err(error) => {
                store.take_back(key, &owner, &error).await;
                Err(error.into())
            }
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.single.release(grant).await
    }
}

impl Renew for ReplicatedWait {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        self.single.extend(key, owner).await
    }
}
