//! aredis #119: the token of a lock belongs to the thread, and all tasks of a program run on one thread.
//!
//! *Claim:* who outlasts the timeout cannot release the lock of the next one: each only knows its own token.
//! *Mechanism:* the lock object keeps its token in a `threading.local`, as the library had it from that it was ported from.
//! Tasks of one event loop share their thread, so the next task that acquires overwrites the token. A task that has outlasted
//! its timeout then finds the token of the other, and releases its lock.
//! *Versions:* aredis before 1.1.6. Since then the token is kept in a context variable, which each task has for itself.
//! *Source:* <https://github.com/NoneGG/aredis/issues/119>, mended by
//! <https://github.com/NoneGG/aredis/commit/613dc13>
//!
//! Tasks are careful and rely on their lock no longer than its timeout: without that there are two holders anyway.

use std::sync::{Mutex, MutexGuard, PoisonError};

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use crate::client::policy::{BELIEF_HONEST, STORE};
use crate::redis::common::{OneStore, compare_and_delete, on_stores, set_if_absent, store_of};

/// The lock whose token is everybody's.
pub(super) static FAMILY: Family = Family {
    name: "aredis-119",
    claim: "aredis's Lock: SET NX PX, compare-and-delete by the token of the lock object",
    weakness: "the token is the thread's, and a late task releases the lock of another task",
    source: "aredis before 1.1.6, https://github.com/NoneGG/aredis/issues/119",
    params: params![FIXED, BELIEF_HONEST, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(Shared { store: OneStore::connect(&context, policy).await?, token: Mutex::default(), fixed })
    })
}

struct Shared {
    store: OneStore,
    /// The value that the thread has stored last.
    token: Mutex<Option<String>>,
    fixed: bool,
}

impl Shared {
    fn token(&self) -> MutexGuard<'_, Option<String>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lock for Shared {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let token = self.store.host.rng().owner_id();
        let began = self.store.begin();
        if !set_if_absent(&self.store.redis, key, &token, self.store.ttl).await? {
            return Ok(None);
        }
        *self.token() = Some(token.clone());
        Ok(Some(self.store.grant(key, token, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let of_thread = self.token().take();
        let token = if self.fixed { Some(grant.owner) } else { of_thread };
        let token = token.ok_or_else(|| LockError::new("cannot release an unlocked lock"))?;
        if compare_and_delete(&self.store.redis, &grant.key, &token).await? {
            Ok(())
        } else {
            Err(LockError::new("cannot release a lock that is no longer owned"))
        }
    }
}
