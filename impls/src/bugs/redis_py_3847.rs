//! redis-py #3847: a lock whose release was cancelled is not released, and its owner no longer knows that it owns it.
//!
//! *Claim:* a lock that is held until it is released; its lock object knows whether it owns it.
//! *Mechanism:* `release` takes the token out of the lock object before it asks the store to delete what holds it. A caller
//! that is cancelled meanwhile leaves the key in the store, and an object that says `owned() == False` and refuses to release
//! once more. A lock has no timeout unless one is given, so nobody gets it again.
//! *Versions:* `redis.asyncio.lock.Lock` before 7.2. Since then the token goes when the store has answered.
//! *Source:* <https://github.com/redis/redis-py/issues/3847>, mended by <https://github.com/redis/redis-py/pull/3900>
//!
//! Callers do what they can: they release once more.

use std::sync::{Mutex, MutexGuard, PoisonError};

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::cmd;

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, compare_and_delete, on_stores, store_of};

/// The lock that forgets its token too soon.
pub(super) static FAMILY: Family = Family {
    name: "redis-py-3847",
    claim: "redis-py's asyncio Lock without a timeout: SET NX, compare-and-delete by the token of the lock object",
    weakness: "the token is gone before the release is carried out: one that is cancelled leaves the lock for good",
    source: "redis-py before 7.2, https://github.com/redis/redis-py/issues/3847",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(AsyncLock { store: OneStore::connect(&context, policy).await?, token: Mutex::default(), fixed })
    })
    .without_leases()
}

struct AsyncLock {
    store: OneStore,
    token: Mutex<Option<String>>,
    fixed: bool,
}

impl AsyncLock {
    fn token(&self) -> MutexGuard<'_, Option<String>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn release_own(&self, key: &Key) -> Result<(), LockError> {
        let token = self.token().clone();
        let token = token.ok_or_else(|| LockError::new("cannot release an unlocked lock"))?;
        if !self.fixed {
            *self.token() = None;
        }
        let deleted = compare_and_delete(&self.store.redis, key, &token).await?;
        *self.token() = None;
        // A try that was cancelled may have deleted it: who did cannot be seen from its absence.
        let gone = || LockError::in_doubt("cannot release a lock that is no longer owned");
        if deleted { Ok(()) } else { Err(gone()) }
    }
}

impl Lock for AsyncLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let token = self.store.host.rng().owner_id();
        let mut set = cmd("SET");
        set.arg(key.as_str()).arg(&token).arg("NX");
        let granted: bool = set.query_async(&mut self.store.redis.clone()).await?;
        Ok(granted.then(|| {
            *self.token() = Some(token.clone());
            Grant::new(key, token)
        }))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.release_own(&grant.key).await
    }
}
