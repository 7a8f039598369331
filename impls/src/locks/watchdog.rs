//! The `single` design with a watchdog: a task beside the holder that renews the lease every third of it, checking the
//! owner, until the lock is released.
//!
//! *Claim:* work may take longer than the lease, as long as the holder's process runs; a crashed one blocks the others
//! for no longer than a lease.
//! *Weakness:* the watchdog pauses with its process. When a renewal finds that the lock is no longer its own it stops
//! without a word, as Redisson's does: the holder is not told, and goes on writing beside the next one.
//! *Source:* L7 in the project's list; the renewal of Redisson's `RLock` (`lockWatchdogTimeout`).
//!
//! A renewal that fails otherwise is tried again when the next one is due, which stands for the retries of Redisson's
//! command layer. Each has until then: three tries fit into a lease. The deadline that a grant advertises is that of
//! its first lease and does not move with renewals, because a grant is not told of them: `belief=honest` makes the
//! watchdog pointless, and shows what it costs to rely on nothing else.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use picklock_sim::design::{Family, Seat};
use picklock_sim::host::Host;
use picklock_sim::ids::Key;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::task::Task;
use redis::{RedisResult, Script};

use super::common::{ONE_STORE, Policy, millis, on_stores, store_of};
use super::single::Single;
use crate::connection::Connection;

/// The design with renewal.
pub(super) static FAMILY: Family = Family {
    name: "watchdog",
    claim: "single, renewed every third of the lease while the holder's process runs: work may outlast the lease",
    weakness: "the watchdog pauses with its process, and tells nobody when the lock is lost",
    source: "Redisson, RLock and its lockWatchdogTimeout",
    params: ONE_STORE,
    build: |args| {
        on_stores(args, store_of(args), |seat, policy| async move { Watchdog::connect(&seat, policy).await })
    },
};

/// A client of the design; `replicated` is the same on another store.
pub(super) struct Watchdog {
    single: Single,
    /// The renewal tasks of the grants that are held, by owner.
    watches: Mutex<Vec<(String, Task)>>,
}

impl Watchdog {
    pub(super) async fn connect(seat: &Seat, policy: Policy) -> Result<Watchdog, LockError> {
        Ok(Watchdog { single: Single::connect(seat, policy).await?, watches: Mutex::default() })
    }

    /// Starts to renew a grant.
    fn watch(&self, grant: &Grant) {
        let store = &self.single.store;
        let renewal = Renewal {
            host: store.host.clone(),
            redis: store.redis.clone(),
            key: grant.key.clone(),
            owner: grant.owner.clone(),
            ttl: store.ttl,
        };
        let task = store.host.spawn(renewal.run());
        self.watches().push((grant.owner.clone(), task));
    }

    /// Stops to renew a grant; no renewal begins afterwards.
    fn unwatch(&self, owner: &str) {
        let mut watches = self.watches();
        if let Some(at) = watches.iter().position(|(of, _)| of == owner) {
            watches.swap_remove(at).1.abort();
        }
    }

    fn watches(&self) -> std::sync::MutexGuard<'_, Vec<(String, Task)>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lock for Watchdog {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let grant = self.single.try_acquire(key).await?;
        if let Some(grant) = &grant {
            self.watch(grant);
        }
        Ok(grant)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.unwatch(&grant.owner);
        self.single.release(grant).await
    }
}

/// The task that renews one grant.
struct Renewal {
    host: Host,
    redis: Connection,
    key: Key,
    owner: String,
    ttl: Duration,
}

impl Renewal {
    async fn run(self) {
        let third = self.ttl / 3;
        let mut due = self.host.monotonic() + third;
        loop {
            self.host.sleep_until(due).await;
            // Counted from now, not from when it was due: a process that was paused does not renew in a burst.
            due = self.host.monotonic() + third;
            let renewed =
                self.host.timeout(third, extend_if_owner(&self.redis, &self.key, &self.owner, self.ttl));
            if let Ok(Ok(false)) = renewed.await {
                return;
            }
        }
    }
}

/// Sets the key's lease to `ttl` from now if it holds this value: false if it does not.
async fn extend_if_owner(redis: &Connection, key: &Key, owner: &str, ttl: Duration) -> RedisResult<bool> {
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('pexpire', KEYS[1], ARGV[2])
             else
               return 0
             end",
        )
    });
    SCRIPT.key(key.as_str()).arg(owner).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}
