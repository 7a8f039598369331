//! ShedLock #2583: a task that took too long unlocks the lock of the next one.
//!
//! *Claim:* a scheduled task runs once at a time; its lock is held for `lockAtMostFor` at most.
//! *Mechanism:* the lock is taken with `SET NX PX`, and unlocking is a plain `DEL`. A task that outlasts `lockAtMostFor`
//! deletes the lock of whoever has it by then.
//! *Versions:* the Redis providers of ShedLock up to 6.5. Since then `safeUpdate` has a script delete only the value that was written;
//! 7.7.0 does so only if it is asked to.
//! *Source:* <https://github.com/lukas-krecan/ShedLock/issues/2583>, mended by
//! <https://github.com/lukas-krecan/ShedLock/pull/2584>

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, delete, on_stores, set_if_absent, store_of};

/// The lock that anybody deletes.
pub(super) static FAMILY: Family = Family {
    name: "shedlock-2583",
    claim: "ShedLock's Redis lock: SET NX PX, plain DEL",
    weakness: "a task that outlasts lockAtMostFor deletes the lock of the next one",
    source: "ShedLock without safeUpdate, https://github.com/lukas-krecan/ShedLock/issues/2583",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(ShedLock { store: OneStore::connect(&context, policy).await?, fixed })
    })
}

struct ShedLock {
    store: OneStore,
    fixed: bool,
}

impl Lock for ShedLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let host = &self.store.host;
        // When and where it was taken: for people to read, and in the fixed version to compare.
        let value = format!("{}@{}:{}", host.wall().as_millis(), host.name(), host.rng().owner_id());
        let granted = set_if_absent(&self.store.redis, key, &value, self.store.ttl).await?;
        Ok(granted.then(|| Grant::new(key, value)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if self.fixed {
            self.store.give_back(&grant).await
        } else {
            Ok(delete(&self.store.redis, &grant.key).await?)
        }
    }
}
