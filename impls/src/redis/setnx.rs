//! `SETNX` to take the lock, `DEL` to give it back, and no lease at all.
//!
//! *Claim:* at most one holder, however long it works or stands still.
//! *Weakness:* a holder that dies, or a client that got the lock and never received the reply, blocks everybody for good. The
//! lock is as durable as the store: what a failover or a restart forgets is granted again, and the first holder's
//! `DEL` then deletes the second one's lock.
//! *Source:* the first form of a lock in the Redis documentation of `SETNX`.
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

/// The family of designs without a lease.
pub(crate) static FAMILY: Family = Family {
    name: "setnx",
    claim: "SETNX and DEL without a lease: one holder, however long it takes",
    weakness: "a holder that dies blocks everybody for good",
    source: "Redis documentation, SETNX",
    params: params![RETRY, LONG_TIMEOUT, STORE],
    build: |args| {
        on_stores(args, store_of(args), |context, policy| async move {
            Ok(Setnx { store: OneStore::connect(&context, policy).await? })
        })
        // Survives no condition: a client that stops keeps the lock, also while it waits for the reply.
        .surviving([])
    },
};

/// The timeout of a request, in hundredths of the scenario's `ttl`, which this design does not send to the store. A client that gives up
/// before its SETNX is executed, or before its DEL is sent, leaves a lock that nobody releases. The default is 2.25 x ttl, longer than
/// the pauses of the suite; with 0.5 x ttl nearly every pause shows the weakness.
const LONG_TIMEOUT: Param<Count> = Param { default: "225", ..TIMEOUT };

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
