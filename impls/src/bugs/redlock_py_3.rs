//! redlock-py #3: the margin for clock drift is added to the validity.
//!
//! *Claim:* Redlock, with the validity that is left for the holder to heed.
//! *Mechanism:* the validity is computed as `ttl - (elapsed - drift)`: with two minus signs the drift lengthens it. The
//! holder relies on a lock for a hundredth of the lease and 2 ms after the stores have dropped it.
//! *Versions:* redlock-py before March 2015. The fixed version is `redlock{clock=wall}`.
//! *Source:* <https://github.com/SPSCommerce/redlock-py/pull/3>

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::Family;
use picklock_sim::lock::{Belief, Deadline, Grant, Lock, LockError};
use picklock_sim::param::Param;
use picklock_sim::params;

use crate::client::policy::{CLOCK, NODE_TIMEOUT};
use crate::redis::common::on_stores;
use crate::redlock::algorithm::{NODES, Redlock, Rules, Tokens, nodes};

/// Redlock with the sign turned round.
pub(super) static FAMILY: Family = Family {
    name: "redlock-py-3",
    claim: "redlock-py's Redlock, whose validity is ttl - (elapsed - drift)",
    weakness: "the drift is added: the holder relies on the lock for longer than it has it",
    source: "redlock-py before March 2015, https://github.com/SPSCommerce/redlock-py/pull/3",
    params: params![NODES, Param { default: "wall", ..CLOCK }, NODE_TIMEOUT],
    build: |args| {
        let design = on_stores(args, nodes(args), |context, policy| async move {
            let drift = policy.drift(context.ttl);
            let redlock = Redlock::connect(context, policy, Rules::published(Tokens::None)).await;
            Ok(Drifting { redlock, drift })
        });
        design.believing(Belief::Trusting)
    },
};

struct Drifting {
    redlock: Redlock,
    drift: Duration,
}

impl Lock for Drifting {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let mut grant = self.redlock.try_acquire(key).await?;
        if let Some(deadline) = grant.as_mut().and_then(|grant| grant.deadline.as_mut()) {
            // Once for the drift that was rightly subtracted, once for that which is wrongly added.
            *deadline = match *deadline {
                Deadline::Monotonic(at) => Deadline::Monotonic(at + 2 * self.drift),
                Deadline::Wall(at) => Deadline::Wall(at + 2 * self.drift),
            };
        }
        Ok(grant)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.redlock.release(grant).await
    }
}
