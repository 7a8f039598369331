//! redis-semaphore #10: a permit that was taken from a stale holder is given back once more by that holder.
//!
//! *Claim:* never more holders than permits; who has held one for too long loses it to the others.
//! *Mechanism:* the permits that are free are a list, those that are taken a hash with the times when they were. Who asks
//! first gives back what was taken too long ago. When the stale holder comes to its end it pushes its permit on the list too,
//! without a look whether it was still its own: then the list has it twice, and goes on having it twice.
//! *Versions:* redis-semaphore (Ruby) to this day, where a block is given to `lock`. The pull request that mends it was not
//! merged: a holder gives back only what stands in the hash with the time at which it took it.
//! *Source:* <https://github.com/dv/redis-semaphore/issues/10>, <https://github.com/dv/redis-semaphore/pull/58>
//!
//! Holders are careful and rely on their permit no longer than it takes to be stale: without that there is one too many
//! anyway. Left out on purpose: waiting by `BLPOP`, and the mutex around the search for stale holders, which has [a bug of
//! its own](super::redis_semaphore_23); here a script does that search.

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Exclusion, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::params;
use redis::RedisResult;

use super::version::FIXED;
use crate::client::policy::{BELIEF_HONEST, STORE};
use crate::redis::common::{OneStore, millis, on_stores, store_of};

/// The semaphore with two of a kind.
pub(super) static FAMILY: Family = Family {
    name: "redis-semaphore-10",
    claim: "redis-semaphore: a list of free permits, a hash of those taken, and a timeout for stale holders",
    weakness: "a stale holder gives its permit back once more, and there is one too many for good",
    source: "redis-semaphore 0.3.1, https://github.com/dv/redis-semaphore/issues/10",
    params: params![FIXED, PERMITS, BELIEF_HONEST, STORE],
    build,
};

const PERMITS: Param<Count> =
    Param { name: "permits", domain: Count(1, 100), default: "2", doc: "how many may hold at the same time" };

fn build(args: &Args) -> Design {
    let (fixed, permits) = (args.get(FIXED), args.get(PERMITS) as u32);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(Semaphore { store: OneStore::connect(&context, policy).await?, permits, fixed })
    })
    .excluding(Exclusion::Holders(permits))
}

struct Semaphore {
    store: OneStore,
    permits: u32,
    fixed: bool,
}

impl Semaphore {
    /// Gives back what is stale, and then takes a permit if one is free: its number, and when it was taken.
    async fn take(&self, key: &Key) -> RedisResult<Option<(String, String)>> {
        static SCRIPT: Lua = Lua::new(
            "local time = redis.call('time')
                 local now = time[1] * 1000 + math.floor(time[2] / 1000)
                 if redis.call('setnx', KEYS[1], 1) == 1 then
                   for permit = 1, tonumber(ARGV[1]) do
                     redis.call('rpush', KEYS[2], permit)
                   end
                 end
                 local taken = redis.call('hgetall', KEYS[3])
                 for at = 1, #taken, 2 do
                   if taken[at + 1] + ARGV[2] < now then
                     redis.call('hdel', KEYS[3], taken[at])
                     redis.call('lpush', KEYS[2], taken[at])
                   end
                 end
                 local permit = redis.call('lpop', KEYS[2])
                 if not permit then
                   return false
                 end
                 local at = string.format('%d', now)
                 redis.call('hset', KEYS[3], permit, at)
                 return {permit, at}",
        );
        let mut call = SCRIPT.key(key.as_str());
        call.key(free(key)).key(taken(key)).arg(self.permits).arg(millis(self.store.ttl));
        call.invoke_async(&mut self.store.redis.clone()).await
    }

    /// Gives a permit back; in the mended version only if it is still the one that was taken at that time.
    async fn give_back(&self, key: &Key, permit: &str, at: &str) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "if ARGV[2] ~= 'whatever' and redis.call('hget', KEYS[2], ARGV[1]) ~= ARGV[2] then
                   return 0
                 end
                 redis.call('hdel', KEYS[2], ARGV[1])
                 redis.call('lpush', KEYS[1], ARGV[1])
                 return 1",
        );
        let mut call = SCRIPT.key(free(key));
        call.key(taken(key)).arg(permit).arg(if self.fixed { at } else { "whatever" });
        call.invoke_async(&mut self.store.redis.clone()).await
    }
}

fn free(key: &Key) -> String {
    format!("{{{key}}}:available")
}

fn taken(key: &Key) -> String {
    format!("{{{key}}}:grabbed")
}

impl Lock for Semaphore {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let began = self.store.begin();
        let taken = self.take(key).await?;
        Ok(taken.map(|(permit, at)| self.store.grant(key, format!("{permit}@{at}"), began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let (permit, at) = grant.owner.split_once('@').ok_or_else(|| LockError::new("this is no permit"))?;
        if self.give_back(&grant.key, permit, at).await? {
            Ok(())
        } else {
            Err(LockError::new("the permit was given to somebody else"))
        }
    }
}
