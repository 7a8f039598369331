//! Laravel #36337: a lock whose owner is written in one form and compared in another.
//!
//! *Claim:* a lock that its owner can release; without a number of seconds it is held until then.
//! *Mechanism:* phpredis, set to serialize or to compress values, does so for the `SET` that takes the lock, and not for the
//! arguments of a script. The script that releases compares the owner as it is with the owner as it was serialized, never
//! finds the two equal, and deletes nothing.
//! *Versions:* Laravel before 8.32 on phpredis with a serializer or a compression. Since then `PhpRedisLock` gives the script
//! the owner in the form in which it was written.
//! *Source:* <https://github.com/laravel/framework/issues/36337>, mended by
//! <https://github.com/laravel/framework/pull/36412>

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::cmd;

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, compare_and_delete, on_stores, store_of};

/// The lock that nobody can release.
pub(super) static FAMILY: Family = Family {
    name: "laravel-36337",
    claim: "Laravel's Cache::lock on phpredis with a serializer, without a number of seconds",
    weakness: "the release compares the plain owner with the serialized one, and deletes nothing",
    source: "Laravel before 8.32, https://github.com/laravel/framework/issues/36337",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(CacheLock { store: OneStore::connect(&context, policy).await?, fixed })
    })
    .without_leases()
}

struct CacheLock {
    store: OneStore,
    fixed: bool,
}

/// A text as PHP serializes it.
fn serialized(text: &str) -> String {
    format!("s:{}:\"{text}\";", text.len())
}

impl Lock for CacheLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.store.host.rng().owner_id();
        let mut set = cmd("SETNX");
        set.arg(key.as_str()).arg(serialized(&owner));
        let granted: bool = set.query_async(&mut self.store.redis.clone()).await?;
        Ok(granted.then(|| Grant::new(key, owner)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let owner = if self.fixed { serialized(&grant.owner) } else { grant.owner };
        if compare_and_delete(&self.store.redis, &grant.key, &owner).await? {
            Ok(())
        } else {
            Err(LockError::new("the lock is not this owner's"))
        }
    }
}
