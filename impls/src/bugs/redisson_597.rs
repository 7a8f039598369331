//! Redisson #597: the lock's renewal sets the lease of whoever holds it.
//!
//! *Claim:* a reentrant lock, kept alive while its holder's process runs.
//! *Mechanism:* the renewal is a bare `PEXPIRE` on the lock's key. A holder whose process was stopped past its lease goes on
//! renewing when it runs again, and what it renews is the lock of the next one, for as long as its own work takes.
//! *Versions:* Redisson up to 2.3. Since then a script looks for the owner in the hash first: `reentrant` is that.
//! *Source:* <https://github.com/redisson/redisson/issues/597>

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::params;

use crate::client::policy::{RENEWAL_ON, STORE};
use crate::client::renewal::Renew;
use crate::redis::common::{OneStore, extend, on_stores_renewed, store_of};
use crate::redis::counted::{enter, leave, owner};

/// The lock with the unchecked renewal.
pub(super) static FAMILY: Family = Family {
    name: "redisson-597",
    claim: "Redisson's RLock, whose renewal is a PEXPIRE without a look at the owner",
    weakness: "a late renewal extends the lock of the next holder",
    source: "Redisson up to 2.3, https://github.com/redisson/redisson/issues/597",
    params: params![RENEWAL_ON, STORE],
    build: |args| {
        on_stores_renewed(args, store_of(args), |context, policy| async move {
            Ok(Rlock { owner: owner(&context), store: OneStore::connect(&context, policy).await? })
        })
        .reentrant()
    },
};

struct Rlock {
    store: OneStore,
    owner: String,
}

impl Lock for Rlock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let granted = enter(&self.store.redis, key, &self.owner, self.store.ttl).await?;
        Ok(granted.then(|| Grant::new(key, self.owner.as_str())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let left = leave(&self.store.redis, &grant.key, &grant.owner, self.store.ttl).await?;
        left.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}

impl Renew for Rlock {
    /// Goes on as long as there is a lock at all.
    async fn extend(&self, key: &Key, _owner: &str) -> Result<bool, LockError> {
        Ok(extend(&self.store.redis, key, self.store.ttl).await?)
    }
}
