//! Redisson #1602: a release that fails leaves the watchdog running, which keeps the lock for ever.
//!
//! *Claim:* a lock that nobody releases ends with its lease.
//! *Mechanism:* `unlock` asks the store first and stops the renewal when the store has said yes. If the request fails, it
//! throws, and the renewal goes on although its caller believes that it is done with the lock.
//! *Versions:* Redisson before 3.8.1 and 2.13.1. Since then the renewal ends whatever comes of the request, and so does the
//! lock with its lease.
//! *Source:* <https://github.com/redisson/redisson/issues/1602>

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use super::watching::Watchdog;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, on_stores, store_of};
use crate::redis::counted::{enter, leave, owner};

/// The lock that is renewed after its release has failed.
pub(super) static FAMILY: Family = Family {
    name: "redisson-1602",
    claim: "Redisson's RLock, renewed by its watchdog until it is released",
    weakness: "a release that fails does not stop the renewal: the lock is kept for as long as the process runs",
    source: "Redisson before 3.8.1, https://github.com/redisson/redisson/issues/1602",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let store = OneStore::connect(&context, policy).await?;
        Ok(Rlock { owner: owner(&context), watchdog: Watchdog::new(store.clone()), store, fixed })
    })
    .reentrant()
}

struct Rlock {
    store: OneStore,
    owner: String,
    watchdog: Watchdog,
    fixed: bool,
}

impl Lock for Rlock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        if !enter(&self.store.redis, key, &self.owner, self.store.ttl).await? {
            return Ok(None);
        }
        self.watchdog.begin(key, &self.owner);
        Ok(Some(Grant::new(key, self.owner.as_str())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let left = leave(&self.store.redis, &grant.key, &grant.owner, self.store.ttl).await;
        if left.is_ok() || self.fixed {
            self.watchdog.end(&grant.key, &grant.owner);
        }
        left?.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}
