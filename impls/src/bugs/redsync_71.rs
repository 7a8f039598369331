//! redsync #71: an extension counts from its return, however long ago the stores carried it out.
//!
//! *Claim:* a holder whose extension succeeded has the lock for one more lease.
//! *Mechanism:* `Extend` returned true when a majority of the stores had extended, without reading its clock, although all of
//! the lease may have passed between the requests and the last answer. Taking the lock has read it from the start.
//! *Versions:* redsync before 4.4.0. Since then the validity is the lease less the time that asking took and the drift, and an
//! extension that leaves none has failed.
//! *Source:* <https://github.com/go-redsync/redsync/pull/71>
//!
//! A holder extends at its checkpoints, every third of the lease, and relies on its lock for as long as the last extension
//! says: in the old version for a lease from its return. Three stores.

use std::time::Duration;

use picklock_sim::design::{Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Grant, LockError};
use picklock_sim::param::Args;

use super::at_checkpoints::{Extension, PARAMS, design};
use super::version::FIXED;
use crate::client::policy::Policy;
use crate::redlock::algorithm::Redlock;

/// The lock whose extension takes no time.
pub(super) static FAMILY: Family = Family {
    name: "redsync-71",
    claim: "redsync's Redlock, extended at checkpoints by its holder, which relies on it for a lease from then on",
    weakness: "the time that an extension took is not subtracted, and not even looked at",
    source: "redsync before 4.4.0, https://github.com/go-redsync/redsync/pull/71",
    params: PARAMS,
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    let design = design(args, move |context, policy| Extend { host: context.host.clone(), policy, fixed });
    design.believing(Belief::Honest)
}

struct Extend {
    host: Host,
    policy: Policy,
    fixed: bool,
}

impl Extension for Extend {
    async fn everywhere(
        &self,
        redlock: &Redlock,
        grant: &mut Grant,
        ttl: Duration,
    ) -> Result<bool, LockError> {
        let start = self.policy.clock.read(&self.host);
        if self.count(redlock, grant, ttl).await < redlock.quorum() {
            return Ok(false);
        }
        let now = self.policy.clock.read(&self.host);
        let until = if self.fixed { self.policy.lease_end(start, ttl) } else { now.plus(ttl) };
        if now >= until {
            return Err(LockError::new("the extension took too long"));
        }
        grant.deadline = Some(until.deadline());
        Ok(true)
    }
}
