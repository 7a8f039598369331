//! The `watchdog` design, whose watchdog renews only if the holder's work has got on: the holder reports each step of its work, and a
//! lease is extended only if a step was made since the last time.
//!
//! *Claim:* work may take longer than the lease, and a holder whose process runs but whose work stands still blocks the others for no
//! longer than a lease.
//! *Weakness:* to the watchdog a slow step is a stuck one: a step that takes longer than the lease makes a second holder without any
//! fault. The watchdog pauses with its process, and notifies nobody when the lock is lost, as the other one.
//! *Source:* a proposal to make the watchdog "smarter": renew by the progress of the work, not by the life of the process.
//!
//! Every third of the lease the watchdog looks whether a step was made since the last lease was asked for. A step of up to two thirds
//! of the lease is safe: in the worst case the step before it came just before a renewal, its own end is seen by the second tick after
//! that, and the third would be too late. The parameter `step` is the length of a step, half of the lease unless given; the last step of a
//! section is what is left of its work.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Count, Param};
use picklock_sim::params;

use super::common::{on_stores_renewed, store_of};
use super::single::Single;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, RENEWAL_ON, RETRY, STORE, TIMEOUT};
use crate::client::renewal::Renew;

/// The family of designs whose watchdog looks at the work.
pub(crate) static FAMILY: Family = Family {
    name: "activity-renewal",
    claim: "watchdog, renewing only if the work has made a step since: a stuck holder blocks others for one lease",
    weakness: "a step that takes longer than the lease makes a second holder, without any fault",
    source: "a proposal for a smarter watchdog: renew by progress, not by the life of the process",
    params: params![STEP, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON, STORE],
    build: |args| {
        let percent = args.get(STEP) as u32;
        on_stores_renewed(args, store_of(args), move |context, policy| async move {
            let single = Single::connect(&context, policy).await?;
            Ok(ActivityRenewal { step: context.ttl * percent / 100, single, steps: Mutex::default() })
        })
    },
};

const STEP: Param<Count> = Param {
    name: "step",
    domain: Count(1, 1_000),
    default: "50",
    doc: "how long a step of the work takes, in hundredths of the lease; what is left of the work is the last one",
};

struct ActivityRenewal {
    single: Single,
    /// How long a step takes.
    step: Duration,
    /// The steps of the work under each grant, by its owner.
    steps: Mutex<BTreeMap<String, Steps>>,
}

/// The steps of the work under one grant.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    made: u64,
    /// How many had been made when the lease was last extended.
    renewed: u64,
}

impl ActivityRenewal {
    fn steps(&self) -> MutexGuard<'_, BTreeMap<String, Steps>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lock for ActivityRenewal {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.single.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.steps().remove(&grant.owner);
        self.single.release(grant).await
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.step)
    }

    /// The holder reports a step. It asks nothing and learns nothing.
    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        self.steps().entry(grant.owner.clone()).or_default().made += 1;
        Ok(true)
    }

    fn renews_in_background(&self) -> bool {
        true
    }
}

impl Renew for ActivityRenewal {
    /// Does nothing without a step since the last lease. A renewal that fails does not use the step up.
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        let Steps { made, renewed } = self.steps().get(owner).copied().unwrap_or_default();
        if made == renewed {
            return Ok(true);
        }
        let held = self.single.extend(key, owner).await?;
        // Not there any more once it was released.
        if let Some(steps) = self.steps().get_mut(owner) {
            steps.renewed = made;
        }
        Ok(held)
    }
}
