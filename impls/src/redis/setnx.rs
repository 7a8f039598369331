//! `SETNX` to take the lock, `DEL` to give it back, and no lease at all.
//!
//! *Claim:* at most one holder, however long it works or stands still.
//! *Weakness:* a holder that dies, or whose request was executed without it learning so, blocks everybody for good. The
//! lock is as durable as the store: what a failover or a restart forgets is granted again, and the first holder's
//! `DEL` then deletes the second one's lock.
//! *Source:* L1 in the project's list; the first form of a lock in the Redis documentation of `SETNX`.
//!
//! It has no lease, so nothing to renew, no deadline, and no belief but the naive one.

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Count, Param};
use picklock_sim::params;
use redis::cmd;

use super::common::{OneStore, VALUE, delete, on_stores, store_of};
use crate::client::policy::{RETRY, STORE, TIMEOUT};

/// The design without a lease.
pub(crate) static FAMILY: Family = Family {
    name: "setnx",
    claim: "SETNX and DEL without a lease: one holder, however long it takes",
    weakness: "a holder that dies blocks everybody for good",
    source: "Redis documentation, SETNX",
    params: params![RETRY, PATIENT, STORE],
    build: |args| {
        on_stores(args, store_of(args), |context, policy| async move {
            Ok(Setnx { store: OneStore::connect(&context, policy).await? })
        })
        // Whoever took it and does not go on keeps it: as holder, or as one that waits for the answer.
        .surviving([])
    },
};

/// A request that is executed after its client has given up takes the lock for nobody, for good; one that is given up before it was
/// sent releases nothing. So these clients wait for longer than a process commonly stands still. One that waits for ten leases
/// (1000) shows its weakness less often, one that waits for half a lease (50) whenever it stops.
const PATIENT: Param<Count> = Param { default: "225", ..TIMEOUT };

struct Setnx {
    store: OneStore,
}

impl Lock for Setnx {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let mut setnx = cmd("SETNX");
        setnx.arg(key.as_str()).arg(VALUE);
        let granted: bool = setnx.query_async(&mut self.store.redis.clone()).await?;
        Ok(granted.then(|| Grant::new(key, VALUE)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        Ok(delete(&self.store.redis, &grant.key).await?)
    }
}
