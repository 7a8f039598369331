//! Redisson #2172: a RedLock that may not wait is granted to everybody.
//!
//! *Claim:* a lock on a majority of independent stores, with a lease.
//! *Mechanism:* while the stores are asked, the lease on each is twice the time that the caller may wait. A caller that
//! does not want to wait says -1, and twice that is a lease of -2 s: the script that takes the lock sets it with `PEXPIRE`,
//! which deletes a key whose time is over. Every store says yes and keeps nothing, and the lease proper, set afterwards,
//! finds no key.
//! *Versions:* Redisson before 3.11.1. Since then such a caller's lease is set from the start.
//! *Source:* <https://github.com/redisson/redisson/issues/2172>

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::policy::Policy;
use crate::redis::common::{connect_if_possible, millis, on_stores};
use crate::redis::counted::{enter_for, expire, leave, owner};
use crate::redlock::algorithm::{NODES, nodes};

/// The lock that nobody holds.
pub(super) static FAMILY: Family = Family {
    name: "redisson-2172",
    claim: "Redisson's RedLock, asked with a lease and without a time to wait",
    weakness: "the stores are asked with a negative lease, which deletes what they granted",
    source: "Redisson before 3.11.1, https://github.com/redisson/redisson/issues/2172",
    params: params![FIXED, NODES],
    build,
};

/// The wait time of a caller that does not want to wait, in milliseconds: -1 s.
const NO_WAIT: i64 = -1_000;

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, nodes(args), move |context, policy| async move {
        Ok(RedLock::connect(context, policy, fixed).await)
    })
    .reentrant()
}

struct RedLock {
    nodes: Vec<Connection>,
    owner: String,
    ttl: Duration,
    /// The lease while the stores are asked, in milliseconds.
    first_lease: i64,
}

impl RedLock {
    async fn connect(context: Context, policy: Policy, fixed: bool) -> RedLock {
        let (owner, ttl, timeout) = (owner(&context), context.ttl, policy.timeout(context.ttl));
        let nodes: Vec<Connection> = context
            .stores
            .into_iter()
            .map(|address| Connection::new(&context.host, address, timeout))
            .collect();
        for node in &nodes {
            connect_if_possible(node).await;
        }
        let lease = i64::try_from(millis(ttl)).unwrap_or(i64::MAX);
        RedLock { nodes, owner, ttl, first_lease: if fixed { lease } else { 2 * NO_WAIT } }
    }

    async fn leave_all(&self, nodes: &[&Connection], key: &Key) {
        for node in nodes {
            // A record on a store that cannot be reached runs out by itself.
            let _ = leave(node, key, &self.owner, self.ttl).await;
        }
    }
}

impl Lock for RedLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let needed = self.nodes.len() / 2 + 1;
        let mut taken = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            if let Ok(None) = enter_for(node, key, &self.owner, self.first_lease).await {
                taken.push(node);
            }
        }
        if taken.len() < needed {
            self.leave_all(&taken, key).await;
            return Ok(None);
        }
        for node in taken {
            // A plain PEXPIRE, and nobody looks at its answer.
            expire(node, key, self.ttl).await?;
        }
        Ok(Some(Grant::new(key, self.owner.as_str())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.leave_all(&self.nodes.iter().collect::<Vec<_>>(), &grant.key).await;
        Ok(())
    }
}
