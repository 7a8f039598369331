//! The same lease with a release that looks first and deletes then. Between the two the lease may run out, and the key
//! belong to somebody else.

use picklock::{Belief, Design, Grant, Key, Lock, LockError, on_redis};
use redis::cmd;

use crate::lease::Lease;

/// A client of the lock.
pub struct Hasty(Lease);

/// The lock as picklock tests it.
pub fn hasty() -> Design {
    on_redis("hasty", 1, async |context| Ok(Hasty(Lease::connect(context).await?)))
        .believing(Belief::Honest)
        .fenced()
}

impl Lock for Hasty {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.0.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let redis = &mut self.0.redis.clone();
        let owner: Option<String> = cmd("GET").arg(grant.key.as_str()).query_async(redis).await?;
        if owner.as_ref() == Some(&grant.owner) {
            cmd("DEL").arg(grant.key.as_str()).query_async::<()>(redis).await?;
        }
        Ok(())
    }
}
