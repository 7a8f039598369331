//! A counting semaphore whose permits have leases: so many may hold at the same time, and each for no longer than its lease. The
//! store keeps, for each permit taken, when its lease runs out.
//!
//! *Claim:* never more holders than permits, and a crashed one blocks its permit for no longer than its lease.
//! *Weakness:* all that is said of `single`; and the leases are reckoned by the clients' wall clocks, so one client whose clock is
//! ahead takes the permits of the others away.
//! *Source:* Redisson's `RPermitExpirableSemaphore` by its behaviour (`RedissonPermitExpirableSemaphore`), whose scripts are given
//! the time of the client that calls them.
//!
//! Left out on purpose: the counter that Redisson keeps beside the leases, and waiting on its channel.

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Exclusion, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::params;
use redis::{RedisResult, cmd};

use super::common::{OneStore, millis, on_stores, store_of};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, Policy, RETRY, STORE, TIMEOUT};

/// The family of counting semaphores.
pub(crate) static FAMILY: Family = Family {
    name: "permits",
    claim: "a counting semaphore with leases: never more holders than permits",
    weakness: "a lease that ends while its holder works lets one more in, and clients' wall clocks decide when it ends",
    source: "Redisson, RPermitExpirableSemaphore",
    params: params![PERMITS, EXTRA, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, STORE],
    build,
};

const PERMITS: Param<Count> =
    Param { name: "permits", domain: Count(1, 100), default: "2", doc: "how many may hold at the same time" };

/// The permits that a semaphore gives beyond its number because it counts wrongly: the invariant must see them.
const EXTRA: Param<Count> = Param {
    name: "extra",
    domain: Count(0, 10),
    default: "0",
    doc: "how many more than that the store grants: a bug, for testing what looks for it",
};

fn build(args: &Args) -> Design {
    let (permits, extra) = (args.get(PERMITS) as u32, args.get(EXTRA) as u32);
    let limit = permits + extra;
    on_stores(args, store_of(args), move |context, policy| async move {
        Permits::connect(&context, policy, limit).await
    })
    .excluding(Exclusion::Holders(permits))
}

struct Permits {
    store: OneStore,
    limit: u32,
}

impl Permits {
    async fn connect(context: &Context, policy: Policy, limit: u32) -> Result<Permits, LockError> {
        Ok(Permits { store: OneStore::connect(context, policy).await?, limit })
    }

    /// Takes a permit if one is free once those whose leases have run out are given back.
    async fn take(&self, key: &Key, permit: &str) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "redis.call('zremrangebyscore', KEYS[1], 0, ARGV[1])
                 if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[3]) then
                   return 0
                 end
                 redis.call('zadd', KEYS[1], ARGV[1] + ARGV[2], ARGV[4])
                 return 1",
        );
        let now = self.store.host.wall().0 / 1_000_000;
        let mut call = SCRIPT.key(key.as_str());
        call.arg(now).arg(millis(self.store.ttl)).arg(self.limit).arg(permit);
        call.invoke_async(&mut self.store.redis.clone()).await
    }

    async fn give_back(&self, key: &Key, permit: &str) -> RedisResult<bool> {
        cmd("ZREM").arg(key.as_str()).arg(permit).query_async(&mut self.store.redis.clone()).await
    }
}

impl Lock for Permits {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let permit = self.store.host.rng().owner_id();
        let began = self.store.begin();
        match self.take(key, &permit).await {
            Ok(taken) => Ok(taken.then(|| self.store.grant(key, permit, began))),
            Err(error) => {
                // Perhaps it was taken. If it cannot be given back either, its lease ends it.
                let _ = self.give_back(key, &permit).await;
                Err(error.into())
            }
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let held = self.give_back(&grant.key, &grant.owner).await?;
        if held { Ok(()) } else { Err(LockError::new("the lease was lost before the release")) }
    }
}
