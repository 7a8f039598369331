//! A perfect lock, granted by the simulator itself: first come, first served, and a grant ends only when nothing of it
//! can still take effect.
//!
//! *Claim:* no two holders, whatever goes wrong; it is the control that must hold. A scenario in which it fails is
//! wrong, or its invariants are.
//! *Weakness:* it cannot be built, because it knows what every process and every message will still do.
//! *Source:* the perfect failure detector of Chandra and Toueg, "Unreliable Failure Detectors for Reliable Distributed
//! Systems", 1996.

use std::future::Future;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Condition, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};

/// The control that must hold.
pub(crate) static FAMILY: Family = Family {
    name: "oracle",
    claim: "a perfect lock, granted by the simulator: the control that must hold",
    weakness: "cannot be built",
    source: "control; Chandra and Toueg, Unreliable Failure Detectors, 1996",
    params: &[],
    build: |_| {
        // It knows who died. Whoever only stands still or is cut off may still do something with what it has.
        Design::new("", |context| async move { Ok(Client::lock(Oracle { host: context.host })) })
            .surviving([Condition::HolderDead])
    },
};

struct Oracle {
    host: Host,
}

impl Lock for Oracle {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.acquire(&self.host, key, Duration::ZERO).await
    }

    /// Its caller may be cancelled: the simulator knows that the section is over.
    fn release(&self, grant: Grant) -> impl Future<Output = Result<(), LockError>> + Send {
        let release = self.host.oracle_release(&grant.key);
        async move {
            release.await;
            Ok(())
        }
    }

    /// Waits in the queue instead of polling.
    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        match host.timeout(wait, host.oracle_acquire(key)).await {
            Ok(()) => Ok(Some(Grant::new(key, host.rng().owner_id()))),
            Err(_) => Ok(None),
        }
    }
}
