//! redis-py #818: a crash between `SETNX` and `PEXPIRE` leaves a lock that never ends.
//!
//! *Claim:* a lock with a timeout, after which it is free even if its holder is gone.
//! *Mechanism:* the lock is taken with `SETNX`, and its timeout is set by a second command. A client that dies between
//! the two, or whose second command does not arrive, leaves a lock without a timeout.
//! *Versions:* the class `Lock` of redis-py 2.10, which is the one used where scripts are not. Since 3.0 it takes the
//! lock with `SET NX PX`.
//! *Source:* <https://github.com/redis/redis-py/issues/818>, and earlier <https://github.com/redis/redis-py/issues/554>
//!
//! The release of that version had a bug of its own, [`redis_py_1031`](super::redis_py_1031).

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::cmd;

use super::redis_py_1031::release_watched;
use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, extend, on_stores, set_if_absent, store_of};

/// The lock whose timeout comes second.
pub(super) static FAMILY: Family = Family {
    name: "redis-py-818",
    claim: "redis-py's Lock, taken by SETNX and then PEXPIRE",
    weakness: "a crash between the two commands blocks everybody for good",
    source: "redis-py 2.10, https://github.com/redis/redis-py/issues/818",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(PyLock { store: OneStore::connect(&context, policy).await?, fixed })
    })
}

struct PyLock {
    store: OneStore,
    fixed: bool,
}

impl Lock for PyLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let OneStore { redis, ttl, .. } = &self.store;
        let token = self.store.host.rng().owner_id();
        let granted = if self.fixed {
            set_if_absent(redis, key, &token, *ttl).await?
        } else {
            let free = cmd("SETNX").arg(key.as_str()).arg(&token).query_async(&mut redis.clone()).await?;
            if free {
                extend(redis, key, *ttl).await?;
            }
            free
        };
        Ok(granted.then(|| Grant::new(key, token)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        release_watched(&self.store.redis, &grant, false).await
    }
}
