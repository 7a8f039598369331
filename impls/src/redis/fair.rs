//! A reentrant lock that serves those who wait in the order in which the store heard of them: beside the lock there is a
//! queue, and only its head may take what is free.
//!
//! *Claim:* nobody who keeps asking is overtaken, and all that is said of `reentrant` otherwise.
//! *Weakness:* all that is said of `reentrant`. A waiter that dies keeps its place until its time there is over, and blocks
//! everybody behind it although the lock is free. That time is read from the clients' wall clocks: one that is ahead throws
//! living waiters out of the queue, and one that was ahead and dies keeps its place for as long. A lock that is held for
//! longer than the queue has patience costs all who wait their places.
//! *Source:* Redisson's `getFairLock()` (`RedissonFairLock`), by the behaviour of its scripts: a list of those who wait, a sorted
//! set of when each loses its place, both looked at and tidied by whoever asks.
//!
//! Redisson's patience is five minutes to a lease of thirty seconds; here it is one lease unless given. A refused client
//! asks again and again. Left out on purpose: the channel for each waiter on which Redisson notifies the next one.

use std::time::Duration;

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::params;
use redis::RedisResult;

use super::common::{OneStore, millis, on_stores_waiting, store_of};
use super::counted::{extend_if_inside, leave, owner};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, Policy, RENEWAL_ON, RETRY, STORE, TIMEOUT};
use crate::client::renewal::{Renew, Renewed};

/// The family of designs with a queue.
pub(crate) static FAMILY: Family = Family {
    name: "fair",
    claim: "reentrant, with a queue in the store: those who wait are served in turn",
    weakness: "a waiter that dies keeps its place for a while; wall clocks decide for how long",
    source: "Redisson, RedissonFairLock",
    params: params![PATIENCE, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, RENEWAL_ON, STORE],
    build,
};

const PATIENCE: Param<Count> = Param {
    name: "patience",
    domain: Count(1, 10_000),
    default: "100",
    doc: "how long a waiter keeps its place once it could be its turn, in hundredths of the lease",
};

fn build(args: &Args) -> Design {
    let patience = u32::try_from(args.get(PATIENCE)).expect("the domain ends at 10000");
    let design = on_stores_waiting(args, store_of(args), move |context, policy| async move {
        let (host, ttl) = (context.host.clone(), context.ttl);
        Ok(Renewed::new(Fair::connect(&context, policy, patience).await?, host, ttl, policy.renewal))
    });
    // The lease of a dead holder, then the place of a dead waiter that was the next.
    Design { leases_to_recover: 2 + patience.div_ceil(100), ..design.reentrant() }
}

struct Fair {
    store: OneStore,
    owner: String,
    /// How long a waiter keeps its place once it could be its turn.
    patience: Duration,
}

/// The place of a refused client: in the queue or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    Queues,
    Goes,
}

impl Fair {
    async fn connect(context: &Context, policy: Policy, patience: u32) -> Result<Fair, LockError> {
        let store = OneStore::connect(context, policy).await?;
        Ok(Fair { owner: owner(context), patience: store.ttl * patience / 100, store })
    }

    async fn ask(&self, key: &Key, refused: Refused) -> Result<Option<Grant>, LockError> {
        let began = self.store.begin();
        let granted = self.enter(key, refused).await?;
        Ok(granted.then(|| self.store.grant(key, self.owner.as_str(), began)))
    }

    /// Adds one to the owner's count if it has the lock, or if the lock is free and nobody is before it in the queue.
    async fn enter(&self, key: &Key, refused: Refused) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "local me, lease, patience, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
                 local first = redis.call('lindex', KEYS[2], 0)
                 while first and tonumber(redis.call('zscore', KEYS[3], first) or now) <= now do
                   redis.call('lpop', KEYS[2])
                   redis.call('zrem', KEYS[3], first)
                   first = redis.call('lindex', KEYS[2], 0)
                 end
                 local free = redis.call('exists', KEYS[1]) == 0
                 if free and (not first or first == me) or redis.call('hexists', KEYS[1], me) == 1 then
                   if redis.call('zrem', KEYS[3], me) == 1 then
                     redis.call('lrem', KEYS[2], 1, me)
                     for _, other in ipairs(redis.call('zrange', KEYS[3], 0, -1)) do
                       redis.call('zincrby', KEYS[3], -patience, other)
                     end
                   end
                   redis.call('hincrby', KEYS[1], me, 1)
                   redis.call('pexpire', KEYS[1], lease)
                   return 1
                 end
                 if ARGV[5] == 'queues' and not redis.call('zscore', KEYS[3], me) then
                   local last = redis.call('lindex', KEYS[2], -1)
                   local turn = last and tonumber(redis.call('zscore', KEYS[3], last))
                     or now + math.max(redis.call('pttl', KEYS[1]), 0)
                   redis.call('zadd', KEYS[3], turn + patience, me)
                   redis.call('rpush', KEYS[2], me)
                 end
                 return 0",
        );
        let mut call = SCRIPT.key(key.as_str());
        call.key(queue(key)).key(times(key)).arg(&self.owner).arg(millis(self.store.ttl));
        call.arg(millis(self.patience)).arg(self.store.host.wall().0 / 1_000_000);
        call.arg(if refused == Refused::Queues { "queues" } else { "goes" });
        call.invoke_async(&mut self.store.redis.clone()).await
    }

    /// Leaves the queue. Those behind come a turn earlier.
    async fn give_up(&self, key: &Key) -> RedisResult<()> {
        static SCRIPT: Lua = Lua::new(
            "local mine = redis.call('zscore', KEYS[2], ARGV[1])
                 if not mine then
                   return
                 end
                 redis.call('zrem', KEYS[2], ARGV[1])
                 redis.call('lrem', KEYS[1], 1, ARGV[1])
                 for _, other in ipairs(redis.call('zrangebyscore', KEYS[2], '(' .. mine, '+inf')) do
                   redis.call('zincrby', KEYS[2], -tonumber(ARGV[2]), other)
                 end",
        );
        let mut call = SCRIPT.key(queue(key));
        call.key(times(key)).arg(&self.owner).arg(millis(self.patience));
        call.invoke_async(&mut self.store.redis.clone()).await
    }
}

impl Lock for Fair {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.ask(key, Refused::Goes).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        loop {
            let outcome = self.ask(key, Refused::Queues).await;
            if let Ok(Some(grant)) = outcome {
                return Ok(Some(grant));
            }
            let pause = self.store.policy.retry;
            let pause = host.rng().span(pause.min, pause.max);
            if host.monotonic() + pause >= give_up {
                // If this fails as well, the place is lost when its time is over.
                let _ = self.give_up(key).await;
                return outcome;
            }
            host.sleep(pause).await;
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let left = leave(&self.store.redis, &grant.key, &grant.owner, self.store.ttl).await?;
        left.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}

impl Renew for Fair {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        Ok(extend_if_inside(&self.store.redis, key, owner, self.store.ttl).await?)
    }
}

/// The list of those who wait, the first at its head.
fn queue(key: &Key) -> String {
    format!("{{{key}}}:queue")
}

/// When each of them loses its place, in milliseconds of the wall clocks.
fn times(key: &Key) -> String {
    format!("{{{key}}}:times")
}
