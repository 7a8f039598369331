//! No lock at all: every acquire is granted at once, without asking anybody.
//!
//! *Claim:* none; it is the control that must fail. A scenario in which it holds shows nothing about a lock.
//! *Weakness:* two clients that want the same key at the same time both get it.
//! *Source:* every program before its first race.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Conditions, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};

/// The control that must fail.
pub(crate) static FAMILY: Family = Family {
    name: "no-lock",
    claim: "grants everything at once: the control that must fail",
    weakness: "breaks wherever two clients want the same key",
    source: "control",
    params: &[],
    build: |_| {
        let design =
            Design::new("", |context| async move { Ok(Client::lock(NoLock { host: context.host })) });
        Design { survives: Conditions::LEASE, ..design.reentrant() }
    },
};

struct NoLock {
    host: Host,
}

impl Lock for NoLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(Some(Grant::new(key, self.host.rng().owner_id())))
    }

    async fn release(&self, _grant: Grant) -> Result<(), LockError> {
        Ok(())
    }

    /// Never refuses, so there is nothing to wait for: not even the clock is read.
    async fn acquire(&self, _host: &Host, key: &Key, _wait: Duration) -> Result<Option<Grant>, LockError> {
        self.try_acquire(key).await
    }
}
