//! redis-semaphore #23: whoever asks for the mutex takes away its timeout.
//!
//! *Claim:* a mutex that a dead holder blocks for no longer than its timeout.
//! *Mechanism:* it is taken with `GETSET`: who finds that nothing was there has it, and sets its timeout with `EXPIRE`. But
//! `GETSET` writes the key anew, and a key that is written anew has no timeout. So the first who asks in vain makes the lock
//! one that never ends, and its holder's death leaves it for good.
//! *Versions:* the mutex within redis-semaphore (Ruby) before 0.3.1, which guards its search for stale holders. Since then the
//! lock is a time until when it is held, taken by `SETNX`, and by `GETSET` once that time is over.
//! *Source:* <https://github.com/dv/redis-semaphore/issues/23>, mended by
//! <https://github.com/dv/redis-semaphore/commit/319760bc46b6b20258eb62f631d4a30cf911290a>
//!
//! Here it is a lock of its own. Times are those of the store, as the library asks for them.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::{RedisResult, cmd};

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, delete, extend, on_stores, store_of};

/// The mutex whose timeout goes when somebody asks.
pub(super) static FAMILY: Family = Family {
    name: "redis-semaphore-23",
    claim: "redis-semaphore's mutex: GETSET, and EXPIRE by who found nothing there",
    weakness: "GETSET clears the timeout: after one who asked in vain a dead holder blocks everybody for good",
    source: "redis-semaphore before 0.3.1, https://github.com/dv/redis-semaphore/issues/23",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(Mutex { store: OneStore::connect(&context, policy).await?, fixed })
    })
}

/// The value of the key of a mutex.
const VERSION: u64 = 1;

struct Mutex {
    store: OneStore,
    fixed: bool,
}

impl Mutex {
    /// Writes a value and answers what was there before.
    async fn swap(&self, key: &Key, value: u64) -> RedisResult<Option<u64>> {
        cmd("GETSET").arg(key.as_str()).arg(value).query_async(&mut self.store.redis.clone()).await
    }

    /// The mended version: until when it is held, by the store's clock, if it was granted.
    async fn take_until(&self, key: &Key) -> RedisResult<Option<u64>> {
        let mut redis = self.store.redis.clone();
        let now = time(&self.store).await?;
        let until = now + self.store.ttl.as_micros() as u64;
        let free: bool = cmd("SETNX").arg(key.as_str()).arg(until).query_async(&mut redis).await?;
        if free {
            return Ok(Some(until));
        }
        let held_until: Option<u64> = cmd("GET").arg(key.as_str()).query_async(&mut redis).await?;
        // No key is a time that is over, as nil is in Ruby.
        let held_until = held_until.unwrap_or(0);
        if held_until >= now || self.swap(key, until).await?.unwrap_or(0) != held_until {
            return Ok(None);
        }
        Ok(Some(until))
    }
}

/// The time on the store's clock, in microseconds.
async fn time(store: &OneStore) -> RedisResult<u64> {
    let (seconds, micros): (u64, u64) = cmd("TIME").query_async(&mut store.redis.clone()).await?;
    Ok(Duration::from_secs(seconds).as_micros() as u64 + micros)
}

impl Lock for Mutex {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        if self.fixed {
            let until = self.take_until(key).await?;
            return Ok(until.map(|until| Grant::new(key, until.to_string())));
        }
        if self.swap(key, VERSION).await?.is_some() {
            return Ok(None);
        }
        extend(&self.store.redis, key, self.store.ttl).await?;
        Ok(Some(Grant::new(key, VERSION.to_string())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let until: u64 = grant.owner.parse()?;
        if self.fixed && until <= time(&self.store).await? {
            return Err(LockError::new("it may be somebody else's by now"));
        }
        Ok(delete(&self.store.redis, &grant.key).await?)
    }
}
