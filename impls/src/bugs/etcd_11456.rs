//! etcd #11456: a waiter whose lease has run out is granted the lock once those before it are gone.
//!
//! *Claim:* the mutex of clientv3, and the lock service on it: the oldest key below the name holds.
//! *Mechanism:* the waiter watches only the keys that are older than its own. Its own goes with its lease, while it stands still or
//! while renewals do not arrive, and nobody looks whether it is still there.
//! *Versions:* up to 3.4; 3.5.0 looks again once the turn has come.
//! *Source:* <https://github.com/etcd-io/etcd/issues/11456>; Jepsen, etcd 3.4.3 (2020); the same from outside: etcd #9921

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use crate::etcd::queue::{Rules, design};

/// The mutex without a second look.
pub(super) static FAMILY: Family = Family {
    name: "etcd-11456",
    claim: "clientv3's mutex: a waiter is granted the lock once those before it are gone",
    weakness: "nobody looks whether the waiter's own key is still there",
    source: "etcd up to 3.4, https://github.com/etcd-io/etcd/issues/11456",
    params: params![FIXED],
    build: |args| design(args, Rules { looks_again: args.get(FIXED), ..Rules::MUTEX }),
};
