//! A watchdog as Redisson's locks have it: a map of what is being renewed, and a timer for each entry. What its bugs do
//! differently is when they begin and when they end.
//!
//! A renewal that finds its lock gone, or that fails, is the last one: what becomes of the entry in the map is for the caller
//! to say. [`renewal`](crate::client::renewal) has the version without these bugs, which goes on after a failure.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use picklock_model::ids::Key;
use picklock_sim::task::Task;

use crate::redis::common::OneStore;
use crate::redis::counted::extend_if_inside;

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
