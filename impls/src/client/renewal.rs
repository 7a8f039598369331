//! Renewal in the background, the same for every design that can be renewed: a task beside the holder extends the lease
//! again and again until the lock is released.
//!
//! A renewal that finds that the lock is no longer its own stops without a word, as Redisson's does: the holder is not
//! notified. One that fails otherwise is tried again when the next one is due, which stands for the retries of Redisson's
//! command layer; each has until then, so that two tries fit into a lease, and the third comes when it is over. With
//! `renewal=stopping` it is the last, as with a timer whose task ends with its first error. The deadline that a grant advertises is that
//! of its first lease and does not move with renewals, because a grant does not hear of them: `belief=honest` makes
//! renewal pointless, and shows what it costs to rely on nothing else.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::task::Task;

use super::policy::Renewal;

/// A lock whose leases can be extended.
pub(crate) trait Renew: Lock {
    /// Sets the lease of what this owner holds to its full length from now. `Ok(false)`: it holds nothing any more.
    fn extend(&self, key: &Key, owner: &str) -> impl Future<Output = Result<bool, LockError>> + Send;
}

/// A lock whose grants are renewed in the background.
pub(crate) struct Renewed<L> {
    lock: Arc<L>,
    host: Host,
    ttl: Duration,
    renewal: Renewal,
    watches: Arc<Mutex<Watches>>,
}

/// The grants that are being renewed.
#[derive(Default)]
struct Watches {
    grants: Vec<Watch>,
    /// True while the task that renews all grants of the client runs, if they share one.
    shared_runs: bool,
}

/// One grant that is being renewed.
struct Watch {
    key: Key,
    owner: String,
    /// How often its owner has acquired it without releasing it.
    holds: u32,
    /// Its own task, unless all grants share one.
    task: Option<Task>,
}

impl<L: Renew> Renewed<L> {
    pub(crate) fn new(lock: L, host: Host, ttl: Duration, renewal: Renewal) -> Renewed<L> {
        Renewed { lock: Arc::new(lock), host, ttl, renewal, watches: Arc::default() }
    }

    /// Starts to renew a grant.
    fn watch(&self, grant: &Grant) {
        if self.renewal == Renewal::Off {
            return;
        }
        let mut watches = lock(&self.watches);
        if let Some(watch) = watches.of(&grant.key, &grant.owner) {
            watch.holds += 1;
            return;
        }
        let shared = self.renewal == Renewal::Shared;
        let (key, owner) = (grant.key.clone(), grant.owner.clone());
        let task = (!shared).then(|| {
            let tender = Tender {
                lock: Arc::clone(&self.lock),
                host: self.host.clone(),
                ttl: self.ttl,
                jittered: self.renewal == Renewal::Jittered,
                stops: self.renewal == Renewal::Stopping,
            };
            self.host.spawn(tender.tend(key.clone(), owner.clone()))
        });
        watches.grants.push(Watch { key, owner, holds: 1, task });
        if shared && !watches.shared_runs {
            watches.shared_runs = true;
            let tender = Tender {
                lock: Arc::clone(&self.lock),
                host: self.host.clone(),
                ttl: self.ttl,
                jittered: false,
                stops: false,
            };
            // Nobody aborts it: it ends by itself when nothing is left to renew.
            self.host.spawn(tender.tend_all(Arc::clone(&self.watches)));
        }
    }

    /// Stops to renew a grant once it was released as often as it was acquired; no renewal begins afterwards.
    fn unwatch(&self, grant: &Grant) {
        let mut watches = lock(&self.watches);
        let Some(watch) = watches.of(&grant.key, &grant.owner) else { return };
        watch.holds -= 1;
        if watch.holds == 0 {
            watches.drop_grant(&grant.key, &grant.owner);
        }
    }
}

impl<L: Renew> Lock for Renewed<L> {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let grant = self.lock.try_acquire(key).await?;
        if let Some(grant) = &grant {
            self.watch(grant);
        }
        Ok(grant)
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let grant = self.lock.acquire(host, key, wait).await?;
        if let Some(grant) = &grant {
            self.watch(grant);
        }
        Ok(grant)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.unwatch(&grant);
        self.lock.release(grant).await
    }

    fn checkpoint(&self) -> Option<Duration> {
        self.lock.checkpoint()
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        self.lock.renew(grant).await
    }

    fn renews_in_background(&self) -> bool {
        self.lock.renews_in_background()
    }

    async fn lost(&self, grant: &Grant) {
        self.lock.lost(grant).await;
    }
}

impl Watches {
    fn of(&mut self, key: &Key, owner: &str) -> Option<&mut Watch> {
        self.grants.iter_mut().find(|watch| watch.key == *key && watch.owner == owner)
    }

    fn drop_grant(&mut self, key: &Key, owner: &str) {
        if let Some(at) = self.grants.iter().position(|watch| watch.key == *key && watch.owner == owner)
            && let Some(task) = self.grants.swap_remove(at).task
        {
            task.abort();
        }
    }
}

fn lock(watches: &Mutex<Watches>) -> MutexGuard<'_, Watches> {
    watches.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The context of a renewing task.
struct Tender<L> {
    lock: Arc<L>,
    host: Host,
    ttl: Duration,
    jittered: bool,
    /// True if one renewal that fails is the last.
    stops: bool,
}

impl<L: Renew> Tender<L> {
    /// How long it waits between two renewals.
    fn interval(&self) -> Duration {
        let third = self.ttl / 3;
        if self.jittered { self.host.rng().span(third / 2, third) } else { third }
    }

    /// Renews one grant until it turns out to be lost.
    async fn tend(self, key: Key, owner: String) {
        let mut due = self.host.monotonic() + self.interval();
        loop {
            self.host.sleep_until(due).await;
            // Counted from now, not from when it was due: a process that was paused does not renew in a burst.
            due = self.host.monotonic() + self.interval();
            if self.lost(&key, &owner).await {
                return;
            }
        }
    }

    /// Renews all grants of the client, one after another, until there are none.
    async fn tend_all(self, watches: Arc<Mutex<Watches>>) {
        let mut due = self.host.monotonic() + self.interval();
        loop {
            self.host.sleep_until(due).await;
            due = self.host.monotonic() + self.interval();
            let grants: Vec<(Key, String)> = {
                let mut watches = lock(&watches);
                watches.shared_runs = !watches.grants.is_empty();
                watches.grants.iter().map(|watch| (watch.key.clone(), watch.owner.clone())).collect()
            };
            if grants.is_empty() {
                return;
            }
            for (key, owner) in grants {
                // It may have been released while others were renewed.
                let held = lock(&watches).of(&key, &owner).is_some();
                if held && self.lost(&key, &owner).await {
                    lock(&watches).drop_grant(&key, &owner);
                }
            }
        }
    }

    /// Renews once. True if that was the last time: the store says that the grant is gone, or it says nothing and the timer stops
    /// then.
    async fn lost(&self, key: &Key, owner: &str) -> bool {
        match self.host.timeout(self.ttl / 3, self.lock.extend(key, owner)).await {
            Ok(Ok(extended)) => !extended,
            Ok(Err(_)) | Err(_) => self.stops,
        }
    }
}
