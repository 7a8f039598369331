//! Spring Integration GH-1888: a lock that ran out in the store stays locked within the process.
//!
//! *Claim:* a lock that its owner outlasts is free for others, in this process and elsewhere.
//! *Mechanism:* a process has a local lock before that in the store, so that its threads do not all ask there. To unlock, a
//! thread obtains its lock from the registry, which looks in the store first: one that ran out is forgotten, and a new object
//! is handed out. To unlock that one fails, since it was never locked, and the local lock of the old one is locked for good:
//! no thread of this process gets the lock again.
//! *Versions:* `RedisLockRegistry` of Spring Integration before 4.3.2. Since then the registry unlocks what it forgets.
//! *Source:* <https://github.com/spring-projects/spring-integration/issues/1888>, mended by
//! <https://github.com/spring-projects/spring-integration/pull/1890>

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::cmd;

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, delete, on_stores, set_if_absent, store_of};

/// The lock that a process never lets go of.
pub(super) static FAMILY: Family = Family {
    name: "spring-1888",
    claim: "Spring's RedisLockRegistry: a local lock for the threads of a process, then one in the store",
    weakness: "who unlocks what ran out in the store leaves the local lock locked",
    source: "Spring Integration before 4.3.2, https://github.com/spring-projects/spring-integration/issues/1888",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let store = OneStore::connect(&context, policy).await?;
        Ok(Registry { store, locked: AtomicBool::new(false), fixed })
    })
}

/// The registry of one process, for one key: scenarios for it have no more.
struct Registry {
    store: OneStore,
    /// The local lock.
    locked: AtomicBool,
    fixed: bool,
}

impl Registry {
    fn unlock_locally(&self) {
        self.locked.store(false, Ordering::Relaxed);
    }

    /// Obtains the lock of this thread: false if it has run out and was forgotten.
    async fn obtain(&self, grant: &Grant) -> Result<bool, LockError> {
        let mut get = cmd("GET");
        get.arg(grant.key.as_str());
        let in_store: Option<String> = get.query_async(&mut self.store.redis.clone()).await?;
        let held = in_store.as_ref() == Some(&grant.owner);
        if !held && self.fixed {
            self.unlock_locally();
        }
        Ok(held)
    }
}

impl Lock for Registry {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        if self.locked.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let owner = self.store.host.rng().owner_id();
        let obtained = set_if_absent(&self.store.redis, key, &owner, self.store.ttl).await;
        if !matches!(obtained, Ok(true)) {
            self.unlock_locally();
        }
        Ok(obtained?.then(|| Grant::new(key, owner)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if !self.obtain(&grant).await? {
            return Err(LockError::new("this thread does not own the lock"));
        }
        let deleted = delete(&self.store.redis, &grant.key).await;
        self.unlock_locally();
        Ok(deleted?)
    }
}
