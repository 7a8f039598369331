//! rslock: an extension that fails gives up a lock that is still valid.
//!
//! *Claim:* an extension lengthens the lock or leaves it as it is.
//! *Mechanism:* acquiring and extending share one routine, which on failure unlocks every store, as an acquire must. An
//! extension that reaches too few stores in time does so within the validity that the holder was given: it goes on in
//! good faith while somebody else is granted the lock.
//! *Versions:* rslock 0.7.3, and the versions around it.
//! *Source:* <https://github.com/hexcowboy/rslock/blob/039cabc967109b29fd8419d710be7c99f5908655/src/lock.rs>,
//! `exec_or_retry`; there is no report of it.
//!
//! A holder extends at its checkpoints, every third of the lease. An extension is tried three times, with a random pause
//! of up to a fifth of the lease; three stores, as in rslock's own documentation.

use std::time::Duration;

use picklock_sim::design::{Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Grant, LockError};
use picklock_sim::param::Args;

use super::at_checkpoints::{Extension, PARAMS, design};
use super::version::FIXED;
use crate::client::policy::Policy;
use crate::redlock::algorithm::Redlock;

/// The lock that is given up by an extension.
pub(super) static FAMILY: Family = Family {
    name: "rslock-extend",
    claim: "rslock's Redlock, extended by its holder at checkpoints",
    weakness: "an extension that fails unlocks every store within the validity that the holder was given",
    source: "rslock 0.7.3, https://github.com/hexcowboy/rslock/blob/039cabc967109b29fd8419d710be7c99f5908655/src/lock.rs",
    params: PARAMS,
    build,
};

/// How often an extension is tried.
const TRIES: u32 = 3;

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    let design = design(args, move |context, policy| Rslock { host: context.host.clone(), policy, fixed });
    design.believing(Belief::Honest)
}

struct Rslock {
    host: Host,
    policy: Policy,
    fixed: bool,
}

impl Extension for Rslock {
    async fn everywhere(
        &self,
        redlock: &Redlock,
        grant: &mut Grant,
        ttl: Duration,
    ) -> Result<bool, LockError> {
        for _ in 0..TRIES {
            let start = self.policy.clock.read(&self.host);
            if self.count(redlock, grant, ttl).await >= redlock.quorum() {
                grant.deadline = Some(self.policy.lease_end(start, ttl).deadline());
                return Ok(true);
            }
            if !self.fixed {
                redlock.release_everywhere(&grant.key, &grant.owner).await;
            }
            self.host.sleep(self.host.rng().span(Duration::ZERO, ttl / 5)).await;
        }
        // The holder still has the validity that it was given before.
        Err(LockError::new("the lock could not be extended"))
    }
}
