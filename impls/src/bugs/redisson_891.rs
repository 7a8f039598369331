//! Redisson #891: a writer that reads meanwhile and is done reading is no writer any more.
//!
//! *Claim:* who holds the lock to write may acquire it to read as well, and must release it as often.
//! *Mechanism:* when a read lock is released, what is left is given the longest lease that is left of a read lock. A writer has
//! none of these, so nothing seems to be left, and the lock is deleted while it still writes.
//! *Versions:* Redisson before 3.4.3 and 2.9.3. Since then a lock in the mode of writing is spared.
//! *Source:* <https://github.com/redisson/redisson/issues/891>
//!
//! A section acquires to write; what it acquires within is to read, as code does that calls a function which only reads.

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::reading::{enter_to_read, enter_to_write, leave_reading, leave_writing};
use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, on_stores, store_of};
use crate::redis::counted::owner;

/// The lock that is deleted by its reader.
pub(super) static FAMILY: Family = Family {
    name: "redisson-891",
    claim: "Redisson's RReadWriteLock: who writes may read as well",
    weakness: "the release of the inner read lock deletes the write lock around it",
    source: "Redisson before 3.4.3, https://github.com/redisson/redisson/issues/891",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let store = OneStore::connect(&context, policy).await?;
        Ok(ReadWrite { store, owner: owner(&context), writes: AtomicBool::new(false), fixed })
    })
    .reentrant()
}

struct ReadWrite {
    store: OneStore,
    owner: String,
    /// True if this client holds the lock to write.
    writes: AtomicBool,
    fixed: bool,
}

impl Lock for ReadWrite {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let OneStore { redis, ttl, .. } = &self.store;
        let grant = Grant::new(key, self.owner.as_str());
        if self.writes.load(Ordering::Relaxed) {
            let entered = enter_to_read(redis, key, &self.owner, *ttl).await?;
            return Ok(entered.then(|| grant.shared()));
        }
        let entered = enter_to_write(redis, key, &self.owner, *ttl).await?;
        self.writes.store(entered, Ordering::Relaxed);
        Ok(entered.then_some(grant))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let redis = &self.store.redis;
        let held = if grant.shared {
            leave_reading(redis, &grant.key, &grant.owner, self.fixed).await?
        } else {
            self.writes.store(false, Ordering::Relaxed);
            leave_writing(redis, &grant.key, &grant.owner).await?
        };
        if held { Ok(()) } else { Err(LockError::new("the lease was lost before the release")) }
    }
}
