//! Redisson #2515: after one lock was lost, no later one is renewed.
//!
//! *Claim:* a lock is kept alive while its holder's process runs.
//! *Mechanism:* a renewal that fails is the last one, and its entry stays in the map of what is being renewed. The release
//! that follows finds that the lock has run out, throws, and does not take the entry out either. The next lock of the same
//! name finds the entry, takes it for a sign that a timer runs, and starts none: it ends with its first lease, and so do all
//! after it.
//! *Versions:* Redisson before 3.12.1. Since then every release takes the entry out.
//! *Source:* <https://github.com/redisson/redisson/issues/2515>, mended by
//! <https://github.com/redisson/redisson/pull/2518>
//!
//! The lock in which the renewal failed is lost in either version.

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

/// The lock that is renewed no more.
pub(super) static FAMILY: Family = Family {
    name: "redisson-2515",
    claim: "Redisson's RLock, renewed by its watchdog until it is released",
    weakness: "an entry that a failed renewal left behind keeps later locks from being renewed",
    source: "Redisson before 3.12.1, https://github.com/redisson/redisson/issues/2515",
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
        let lost = matches!(left, Ok(None));
        if !lost || self.fixed {
            self.watchdog.end(&grant.key, &grant.owner);
        }
        left?.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}
