//! The `single` design with a watchdog: a task beside the holder that renews the lease every third of it, checking the
//! owner, until the lock is released.
//!
//! *Claim:* work may take longer than the lease, as long as the holder's process runs; a crashed one blocks the others
//! for no longer than a lease.
//! *Weakness:* the watchdog pauses with its process. When a renewal finds that the lock is no longer its own it stops
//! without a word, as Redisson's does: the holder is not notified, and goes on writing beside the next one.
//! *Source:* the renewal of Redisson's `RLock` (`lockWatchdogTimeout`).

use picklock_sim::design::Family;
use picklock_sim::params;

use super::bulk::{Bulk, LOCKS};
use super::common::{on_stores_renewed, store_of};
use super::single::Single;
use crate::client::policy::{BELIEF, CLOCK, COMPARE, DRIFT, FAILURE, RENEWAL_ON, RETRY, STORE, TIMEOUT};

/// The family of designs with a watchdog.
pub(crate) static FAMILY: Family = Family {
    name: "watchdog",
    claim: "single, renewed every third of the lease while the holder's process runs: work may outlast the lease",
    weakness: "the watchdog pauses with its process, and notifies nobody when the lock is lost",
    source: "Redisson, RLock and its lockWatchdogTimeout",
    params: params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL_ON, COMPARE, LOCKS, STORE],
    build: |args| match args.get(LOCKS) {
        1 => on_stores_renewed(args, store_of(args), |context, policy| async move {
            Single::connect(&context, policy).await
        }),
        locks => on_stores_renewed(args, store_of(args), move |context, policy| async move {
            Bulk::connect(&context, policy, locks).await
        }),
    },
};
