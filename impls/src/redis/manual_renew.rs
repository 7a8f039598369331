//! The `single` design, renewed by the client's own code: at checkpoints of its work it extends the lease, checking the
//! owner, and stops working when it finds that the lock is lost.
//!
//! *Claim:* work may take longer than the lease as long as no step of it does, and the holder learns at its next
//! checkpoint that it has lost the lock.
//! *Weakness:* a step that takes longer than the lease, for whatever reason, makes a second holder until the next
//! checkpoint; a write that follows the last one is not covered at all.
//! *Source:* the usual advice for batch jobs under a lease.
//!
//! Checkpoints come every third of the lease. A failed renewal whose outcome is not known is left to the next one.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Grant, Lock, LockError};

use super::common::{extend_if_owner, on_stores, store_of};
use super::single::Single;
use crate::client::policy::OWNED;

/// The family of designs that the client renews at its checkpoints.
pub(crate) static FAMILY: Family = Family {
    name: "manual-renew",
    claim: "single, renewed by the client at its checkpoints, where it learns of a loss: work may outlast the lease",
    weakness: "a step longer than the lease, and the write after the last checkpoint",
    source: "the usual advice for batch jobs under a lease",
    params: OWNED,
    build: |args| {
        on_stores(args, store_of(args), |context, policy| async move {
            Ok(ManualRenew { single: Single::connect(&context, policy).await? })
        })
        .renewing()
    },
};

struct ManualRenew {
    single: Single,
}

impl Lock for ManualRenew {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.single.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.single.release(grant).await
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.single.store.ttl / 3)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let store = &self.single.store;
        let began = store.begin();
        let held = extend_if_owner(&store.redis, &grant.key, &grant.owner, store.ttl).await?;
        if held {
            store.advertise(grant, began);
        }
        Ok(held)
    }
}
