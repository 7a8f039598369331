//! The `single` design with a timer that extends the lease every third of it without asking whose lock it is.
//!
//! *Claim:* work may take longer than the lease, as long as the holder's process runs.
//! *Weakness:* a timer that is late, because its process was paused or cut off, extends the lock of whoever came after
//! it; and it never learns that the lock is lost. If renewals have a connection of their own (`connection=own`), one may
//! arrive after the release that was sent later, on the next holder's lock: without any fault.
//! *Source:* Redisson until 2.3 renewed so (#597).

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;

use super::common::{connection, extend, on_stores_renewed, store_of};
use super::single::Single;
use crate::client::connection::Connection;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, Policy, RENEWAL_ON, RETRY, STORE, TIMEOUT};
use crate::client::renewal::Renew;

/// The family of designs whose timer sets the lease anew without a look at the owner.
pub(crate) static FAMILY: Family = Family {
    name: "timer-renew",
    claim: "single, with a timer that sets the lease anew every third of it: work may outlast the lease",
    weakness: "a late timer extends the lock of the next holder",
    source: "Redisson until 2.3 (#597)",
    params: params![CONNECTION, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON, STORE],
    build,
};

const CONNECTION: Param<Word> = Param {
    name: "connection",
    domain: Word(&["shared", "own"]),
    default: "shared",
    doc: "whether renewals travel on the connection of all other commands or on one of their own",
};

fn build(args: &Args) -> Design {
    let own = args.get(CONNECTION) == "own";
    on_stores_renewed(args, store_of(args), move |context, policy| async move {
        TimerRenew::connect(&context, policy, own).await
    })
}

struct TimerRenew {
    single: Single,
    renewals: Connection,
}

impl TimerRenew {
    async fn connect(context: &Context, policy: Policy, own: bool) -> Result<TimerRenew, LockError> {
        let single = Single::connect(context, policy).await?;
        let renewals = if own { connection(context, policy).await? } else { single.store.redis.clone() };
        Ok(TimerRenew { single, renewals })
    }
}

impl Lock for TimerRenew {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.single.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.single.release(grant).await
    }
}

impl Renew for TimerRenew {
    /// Goes on whatever the store says: there may be a lock again at the next tick, if not its own.
    async fn extend(&self, key: &Key, _owner: &str) -> Result<bool, LockError> {
        extend(&self.renewals, key, self.single.store.ttl).await?;
        Ok(true)
    }
}
