//! redis-py #1031: a release that watches the lock's key and then deletes it without a transaction.
//!
//! *Claim:* nobody releases another's lock.
//! *Mechanism:* the release does `WATCH`, compares the value that `GET` answers, and deletes the key. The pipeline was
//! never asked to begin a transaction after the `WATCH`, so the `DEL` is sent at once, and nothing looks at what was
//! watched. A lock that runs out and is granted to somebody else between the `GET` and the `DEL` is deleted.
//! *Versions:* the class `Lock` of redis-py before 3.0; with `MULTI` before the `DEL` the watch has its effect.
//! *Source:* <https://github.com/redis/redis-py/pull/1031>

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::{cmd, pipe};

use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::policy::STORE;
use crate::redis::common::{delete, on_stores, store_of};
use crate::redis::single::Single;

/// The lock whose watch has no effect.
pub(super) static FAMILY: Family = Family {
    name: "redis-py-1031",
    claim: "redis-py's Lock, released by WATCH, GET, compare, DEL",
    weakness: "the DEL is not part of a transaction, so that the WATCH has no effect",
    source: "redis-py before 3.0, https://github.com/redis/redis-py/pull/1031",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(PyLock { single: Single::connect(&context, policy).await?, fixed })
    })
}

struct PyLock {
    single: Single,
    fixed: bool,
}

impl Lock for PyLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.single.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        release_watched(&self.single.store.redis, &grant, self.fixed).await
    }
}

/// Releases a grant as redis-py does: watches, compares, and deletes, in a transaction or not.
pub(super) async fn release_watched(
    redis: &Connection,
    grant: &Grant,
    in_transaction: bool,
) -> Result<(), LockError> {
    let key = grant.key.as_str();
    cmd("WATCH").arg(key).query_async::<()>(&mut redis.clone()).await?;
    let value: Option<String> = cmd("GET").arg(key).query_async(&mut redis.clone()).await?;
    let owned = value.as_deref() == Some(grant.owner.as_str());
    if owned && in_transaction {
        let mut transaction = pipe();
        transaction.atomic().del(key);
        let done: Option<(i64,)> = transaction.query_async(&mut redis.clone()).await?;
        return done.map(drop).ok_or_else(|| LockError::new("the lease was lost during the release"));
    }
    if owned {
        delete(redis, &grant.key).await?;
    }
    cmd("UNWATCH").query_async::<()>(&mut redis.clone()).await?;
    if owned { Ok(()) } else { Err(LockError::new("the lease was lost before the release")) }
}
