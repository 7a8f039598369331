//! Redisson #2714: a caller that is interrupted while it asks for a lock leaves one that is renewed for ever.
//!
//! *Claim:* who was interrupted does not have the lock, and what it has left behind ends with its lease.
//! *Mechanism:* a command is carried out by the client's own threads, and when the answer is yes, what was attached to the
//! answer starts the watchdog. A caller that is interrupted while it waits for the answer throws and is gone, but its command
//! is not: the store grants it, and the watchdog keeps what nobody knows of.
//! *Versions:* Redisson before 3.16.3. Since then an interrupted caller cancels its command, and with it what is attached.
//! *Source:* <https://github.com/redisson/redisson/issues/2714>, mended by
//! <https://github.com/redisson/redisson/pull/3826>
//!
//! Each call comes from a thread of its own, as those of a pool do, and threads that were interrupted do not come back.

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::RedisResult;
use tokio::sync::oneshot;

use super::version::FIXED;
use super::watching::Watchdog;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, on_stores, store_of};
use crate::redis::counted::{enter, leave};

/// The lock of a caller that is gone.
pub(super) static FAMILY: Family = Family {
    name: "redisson-2714",
    claim: "Redisson's RLock, renewed by its watchdog from the store's answer on",
    weakness: "the watchdog starts for a caller that was interrupted too, and nobody will stop it",
    source: "Redisson before 3.16.3, https://github.com/redisson/redisson/issues/2714",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let store = OneStore::connect(&context, policy).await?;
        Ok(Rlock { watchdog: Watchdog::new(store.clone()), store, fixed })
    })
    .renewing()
}

struct Rlock {
    store: OneStore,
    watchdog: Watchdog,
    fixed: bool,
}

impl Rlock {
    /// Has a task of the client ask, which goes on when the caller does not wait any more.
    fn ask(&self, key: &Key, owner: &str) -> oneshot::Receiver<RedisResult<bool>> {
        let (answer, answered) = oneshot::channel();
        let (store, watchdog) = (self.store.clone(), self.watchdog.clone());
        let (key, owner, fixed) = (key.clone(), owner.to_owned(), self.fixed);
        self.store.host.spawn(async move {
            let granted = enter(&store.redis, &key, &owner, store.ttl).await;
            if matches!(granted, Ok(true)) && !fixed {
                watchdog.begin(&key, &owner);
            }
            // Nobody may be there to hear it.
            let _ = answer.send(granted);
        });
        answered
    }
}

impl Lock for Rlock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.store.host.rng().owner_id();
        if !self.ask(key, &owner).await?? {
            return Ok(None);
        }
        // Only who is still there renews, in the mended version; in the other the entry is there already.
        self.watchdog.begin(key, &owner);
        Ok(Some(Grant::new(key, owner)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.watchdog.end(&grant.key, &grant.owner);
        let left = leave(&self.store.redis, &grant.key, &grant.owner, self.store.ttl).await?;
        left.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}
