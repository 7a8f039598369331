//! A watchdog as Redisson's locks have it: a map of what is being renewed, and a timer for each entry. What its bugs do
//! differently is when they begin and when they end.
//!
//! A renewal that finds its lock gone, or that fails, is the last one: what becomes of the entry in the map is for the caller
//! to say. [`renewal`](crate::client::renewal) has the version without these bugs, which goes on after a failure.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use picklock_model::ids::Key;
use picklock_sim::design::Design;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::task::Task;
use redis::RedisResult;

use super::version::FIXED;
use crate::redis::common::{OneStore, on_stores, store_of};
use crate::redis::counted::{enter, extend_if_inside, leave, owner};

/// What the store answers to a release: what is left of the owner's count, or nothing if the owner does not have the lock.
type Left = RedisResult<Option<i64>>;

/// Locks that are renewed from their grant on, until a release whose answer `ends` the renewal, or in the fixed version
/// until any release.
pub(super) fn renewed_until(args: &Args, ends: fn(&Left) -> bool) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let store = OneStore::connect(&context, policy).await?;
        let watchdog = Watchdog::new(store.clone());
        Ok(Rlock { owner: owner(&context), watchdog, store, ends: if fixed { |_| true } else { ends } })
    })
    .reentrant()
    .renewing()
}

struct Rlock {
    store: OneStore,
    owner: String,
    watchdog: Watchdog,
    ends: fn(&Left) -> bool,
}

impl Lock for Rlock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        if !enter(&self.store.redis, key, &self.owner, self.store.ttl).await? {
            return Ok(None);
        }
        self.watchdog.begin(key, &self.owner);
        Ok(Some(Grant::new(key, self.owner.as_str())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let left = leave(&self.store.redis, &grant.key, &grant.owner, self.store.ttl).await;
        if (self.ends)(&left) {
            self.watchdog.end(&grant.key, &grant.owner);
        }
        left?.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}

/// The grants that a client renews, by key and owner.
type Entries = BTreeMap<(Key, String), Task>;

/// The watchdog of one client.
#[derive(Clone)]
pub(super) struct Watchdog {
    store: OneStore,
    entries: Arc<Mutex<Entries>>,
}

impl Watchdog {
    pub(super) fn new(store: OneStore) -> Watchdog {
        Watchdog { store, entries: Arc::default() }
    }

    /// Begins to renew, unless there is an entry already.
    pub(super) fn begin(&self, key: &Key, owner: &str) {
        let (store, name) = (self.store.clone(), (key.clone(), owner.to_owned()));
        self.entries().entry(name.clone()).or_insert_with(|| {
            let host = store.host.clone();
            host.spawn(async move {
                let (key, owner) = name;
                let mut renewed = true;
                while renewed {
                    store.host.sleep(store.ttl / 3).await;
                    renewed = extend_if_inside(&store.redis, &key, &owner, store.ttl).await.unwrap_or(false);
                }
            })
        });
    }

    /// Takes the entry away and stops its timer.
    pub(super) fn end(&self, key: &Key, owner: &str) {
        if let Some(task) = self.entries().remove(&(key.clone(), owner.to_owned())) {
            task.abort();
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
