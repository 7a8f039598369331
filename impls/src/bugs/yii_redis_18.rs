//! YiiRedis #18: a lock that has run out is taken by everybody who sees that.
//!
//! *Claim:* one holder, and one that is gone blocks the others until the time that stands in its lock.
//! *Mechanism:* the lock is a key without a lease whose value says until when it is held, by the clock of its holder. Who
//! is refused by `SETNX` reads that time, and if it is over, regards the lock as its own without writing anything. All
//! that look before it is released do the same.
//! *Versions:* `ARedisMutex` of YiiRedis before December 2013. The fix is that of the Redis documentation of `SETNX`: write
//! a new time with `GETSET`, and have the lock only if the old one was still there.
//! *Source:* <https://github.com/phpnode/YiiRedis/pull/18>
//!
//! A release leaves the lock alone if it has a later time than the holder's own that is not over.

use picklock_model::ids::Key;
use picklock_model::time::nanos;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::cmd;

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, delete, on_stores, store_of};

/// The lock that is nobody's.
pub(super) static FAMILY: Family = Family {
    name: "yii-redis-18",
    claim: "YiiRedis's mutex: SETNX of the time until when it is held; a time that is over may be taken over",
    weakness: "everybody who sees that the time is over has the lock",
    source: "YiiRedis before December 2013, https://github.com/phpnode/YiiRedis/pull/18",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(Mutex { store: OneStore::connect(&context, policy).await?, fixed })
    })
}

struct Mutex {
    store: OneStore,
    fixed: bool,
}

impl Mutex {
    /// The time on this client's wall clock, in nanoseconds.
    fn now(&self) -> u64 {
        self.store.host.wall().0
    }

    fn expires_at(&self) -> u64 {
        self.now() + nanos(self.store.ttl)
    }

    async fn held_until(&self, key: &Key) -> Result<u64, LockError> {
        let value: Option<u64> =
            cmd("GET").arg(key.as_str()).query_async(&mut self.store.redis.clone()).await?;
        // No key is a time that is long over, as an empty answer is in PHP.
        Ok(value.unwrap_or(0))
    }

    /// Writes a new time over one that is over: false if somebody else was faster.
    async fn take_over(&self, key: &Key, seen: u64, until: u64) -> Result<bool, LockError> {
        let mut redis = self.store.redis.clone();
        let before: Option<u64> = cmd("GETSET").arg(key.as_str()).arg(until).query_async(&mut redis).await?;
        Ok(before.unwrap_or(0) == seen)
    }
}

impl Lock for Mutex {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let mut until = self.expires_at();
        let mut redis = self.store.redis.clone();
        let free: bool = cmd("SETNX").arg(key.as_str()).arg(until).query_async(&mut redis).await?;
        if !free {
            let seen = self.held_until(key).await?;
            if seen > self.now() {
                return Ok(None);
            }
            if self.fixed {
                until = self.expires_at();
                if !self.take_over(key, seen, until).await? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Grant::new(key, until.to_string())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let held_until = self.held_until(&grant.key).await?;
        let mine: u64 = grant.owner.parse()?;
        if mine < held_until && held_until > self.now() {
            return Err(LockError::new("the lock is in use by another process"));
        }
        Ok(delete(&self.store.redis, &grant.key).await?)
    }
}
