//! One store, a value that nobody else uses, and a release in two commands: `GET`, compare in the client, `DEL`.
//!
//! *Claim:* as `single`: one holder per lease, and nobody releases another's lock.
//! *Weakness:* the lease may end, and somebody else be granted, between the `GET` and the `DEL`: then the `DEL` deletes
//! the other one's lock. Beside that it breaks as `single` does.
//! *Source:* Spring's `RedisLockRegistry` before 6.2 released so (GH-8699).

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Grant, Lock, LockError};
use redis::cmd;

use super::common::{delete, on_stores, store_of};
use super::single::Single;
use crate::client::policy::OWNED;

/// The family of designs that compare in the client before they delete.
pub(crate) static FAMILY: Family = Family {
    name: "get-del",
    claim: "SET NX PX with a unique value, released by GET, compare, DEL: one holder per lease",
    weakness: "a lease that ends between the GET and the DEL makes it delete another's lock",
    source: "Spring RedisLockRegistry before 6.2 (GH-8699)",
    params: OWNED,
    build: |args| {
        on_stores(args, store_of(args), |context, policy| async move {
            Ok(GetDel { single: Single::connect(&context, policy).await? })
        })
    },
};

struct GetDel {
    single: Single,
}

impl Lock for GetDel {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.single.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let redis = &self.single.store.redis;
        let value: Option<String> =
            cmd("GET").arg(grant.key.as_str()).query_async(&mut redis.clone()).await?;
        if value.as_deref() != Some(grant.owner.as_str()) {
            return Err(LockError::new("the lease was lost before the release"));
        }
        Ok(delete(redis, &grant.key).await?)
    }
}
