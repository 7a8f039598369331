//! `SET key locked NX PX ttl` with the same value for everybody, plain `DEL` to release.
//!
//! *Claim:* at most one holder, and a crashed one blocks the others for no longer than its lease.
//! *Weakness:* a holder that is late, because it was paused or its work took longer than the lease, deletes the lock of
//! whoever came after it, and a third client joins the second. As with every lease, the late holder goes on
//! writing beside its successor.
//! *Source:* L3 in the project's list; the pattern that the Redis documentation of `SET` and of `SETNX` shows first, and
//! warns of.

use picklock_sim::design::Family;
use picklock_sim::ids::Key;
use picklock_sim::lock::{Grant, Lock, LockError};
use redis::cmd;

use super::common::{ONE_STORE, OneStore, on_stores, set_if_absent, store_of};

/// The design with a shared value and an unchecked delete.
pub(super) static FAMILY: Family = Family {
    name: "set-px-del",
    claim: "SET NX PX with a shared value, plain DEL: one holder, and a crash blocks for one lease at most",
    weakness: "a late holder deletes the lock of the next one",
    source: "Redis documentation, SET and SETNX",
    params: ONE_STORE,
    build: |args| {
        on_stores(args, store_of(args), |seat, policy| async move {
            Ok(SetPxDel { store: OneStore::connect(&seat, policy).await? })
        })
    },
};

/// The value that everybody writes.
const VALUE: &str = "locked";

struct SetPxDel {
    store: OneStore,
}

impl Lock for SetPxDel {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let began = self.store.begin();
        // An error whose outcome is unknown is left to the lease: a DEL could hit somebody else's lock.
        let granted = set_if_absent(&self.store.redis, key, VALUE, self.store.ttl).await?;
        Ok(granted.then(|| self.store.grant(key, VALUE, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        cmd("DEL").arg(grant.key.as_str()).query_async::<()>(&mut self.store.redis.clone()).await?;
        Ok(())
    }
}
