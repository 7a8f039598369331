//! Redisson #1604: the watchdog renews a read-write lock and not the read locks in it.
//!
//! *Claim:* a lock is kept alive while its holder's process runs, whatever its mode; readers exclude writers.
//! *Mechanism:* each read lock has a lease of its own beside that of the whole. The watchdog renews only that of the whole. When
//! one of several readers leaves after a lease, the longest lease that is left of the others is looked up, all of them have
//! run out meanwhile, and the lock is deleted under those who still read: a writer comes in.
//! *Versions:* Redisson before 3.8.1 and 2.13.1. Since then the watchdog renews both.
//! *Source:* <https://github.com/redisson/redisson/issues/1604>

use std::future::Future;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Exclusion, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::reading::{enter_to_read, enter_to_write, leave_reading, leave_writing, renew};
use super::version::FIXED;
use crate::client::policy::{RENEWAL_ON, STORE};
use crate::client::renewal::{Renew, Renewed};
use crate::redis::common::{OneStore, on_stores_waiting, store_of};

/// The lock whose readers run out.
pub(super) static FAMILY: Family = Family {
    name: "redisson-1604",
    claim: "Redisson's RReadWriteLock, renewed by its watchdog until it is released",
    weakness: "read locks are not renewed: the first of several readers to leave after a lease lets a writer in",
    source: "Redisson before 3.8.1, https://github.com/redisson/redisson/issues/1604",
    params: params![FIXED, RENEWAL_ON, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores_waiting(args, store_of(args), move |context, policy| async move {
        let lock = |mode| {
            let context = context.clone();
            async move {
                let store = OneStore::connect(&context, policy).await?;
                let (host, ttl) = (store.host.clone(), store.ttl);
                Ok::<_, LockError>(Renewed::new(OneMode { store, mode, fixed }, host, ttl, policy.renewal))
            }
        };
        Ok(ReadWrite { read: lock(Mode::Read).await?, write: lock(Mode::Write).await? })
    })
    .excluding(Exclusion::Modes)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

struct ReadWrite {
    read: Renewed<OneMode>,
    write: Renewed<OneMode>,
}

/// One of the two locks that a read-write lock hands out.
struct OneMode {
    store: OneStore,
    mode: Mode,
    fixed: bool,
}

impl Lock for OneMode {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let OneStore { redis, ttl, host, .. } = &self.store;
        let owner = host.rng().owner_id();
        let entered = match self.mode {
            Mode::Read => enter_to_read(redis, key, &owner, *ttl).await?,
            Mode::Write => enter_to_write(redis, key, &owner, *ttl).await?,
        };
        let grant = Grant::new(key, owner);
        Ok(entered.then(|| if self.mode == Mode::Read { grant.shared() } else { grant }))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let redis = &self.store.redis;
        let held = match self.mode {
            Mode::Read => leave_reading(redis, &grant.key, &grant.owner, true).await?,
            Mode::Write => leave_writing(redis, &grant.key, &grant.owner).await?,
        };
        if held { Ok(()) } else { Err(LockError::new("the lease was lost before the release")) }
    }
}

impl Renew for OneMode {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        Ok(renew(&self.store.redis, key, owner, self.store.ttl, self.fixed).await?)
    }
}

impl Lock for ReadWrite {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.write.try_acquire(key).await
    }

    fn acquire_shared(
        &self,
        host: &Host,
        key: &Key,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send {
        poll(&self.read, host, key, wait)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if grant.shared { self.read.release(grant).await } else { self.write.release(grant).await }
    }
}

/// Asks until it is granted or the wait is over.
async fn poll(
    lock: &Renewed<OneMode>,
    host: &Host,
    key: &Key,
    wait: Duration,
) -> Result<Option<Grant>, LockError> {
    let give_up = host.monotonic() + wait;
    loop {
        let outcome = lock.try_acquire(key).await;
        let pause = host.rng().span(lock.retry().min, lock.retry().max);
        if matches!(outcome, Ok(Some(_))) || host.monotonic() + pause >= give_up {
            return outcome;
        }
        host.sleep(pause).await;
    }
}
