//! etcd's mutex: whoever has the oldest key below the lock's name holds it, for as long as its lease is kept alive.
//!
//! *Claim:* one holder in the order of asking, on a store that survives the loss of a minority of its members; a holder that dies is replaced
//! once its lease has run out.
//! *Weakness:* the lease ends while its holder stands still, and the writer sends no token (`etcd-fenced` does). Up to 3.4 a waiter whose own
//! key is gone by the time that its turn comes is granted the lock all the same (`etcd-no-recheck`). The key of a transaction without an answer
//! blocks the others while its session lives (`failed_txn=leave`). A lease may end although it was renewed: when the messages of members are late,
//! and when a leader that paused has proposed its end.
//! *Source:* `client/v3/concurrency/mutex.go` of etcd 3.6; etcd issue 11456 (Jepsen, etcd 3.4.3).

use picklock_sim::design::Family;
use picklock_sim::param::Param;
use picklock_sim::params;

use super::data::DATA;
use super::queue::{
    FAILED_TXN, KEEPALIVE, LEFTOVER, MEMBERS, REQUEST_TIMEOUT, Rules, SESSION, VERSION, design,
};
use crate::client::policy::BELIEF;

const PARAMS: &[Param] =
    params![BELIEF, MEMBERS, VERSION, SESSION, KEEPALIVE, FAILED_TXN, LEFTOVER, REQUEST_TIMEOUT, DATA];

/// The family of designs with etcd's mutex.
pub(crate) static FAMILY: Family = Family {
    name: "etcd",
    claim: "etcd's mutex: the oldest key with a lease that is kept alive, on a store that survives the loss of a minority",
    weakness: "the lease ends while its holder stands still, the writer sends no token, and the key of an unanswered request stays with its session",
    source: "etcd 3.6, client/v3/concurrency/mutex.go",
    params: PARAMS,
    build: |args| design(args, Rules::MUTEX),
};

/// The same with a fencing token.
pub(crate) static FENCED: Family = Family {
    name: "etcd-fenced",
    claim: "etcd's mutex, and the revision at which the key was made as a token that the resource checks",
    weakness: "two clients may still believe that they hold it; the resource refuses the late one",
    source: "etcd 3.6, client/v3/concurrency/mutex.go; Kleppmann, How to do distributed locking (2016)",
    params: PARAMS,
    build: |args| design(args, Rules { fenced: true, ..Rules::MUTEX }),
};

/// The mutex of 3.4.
pub(crate) static NO_RECHECK: Family = Family {
    name: "etcd-no-recheck",
    claim: "etcd's mutex up to 3.4: a waiter is granted the lock once those before it are gone",
    weakness: "nobody looks whether the waiter's own key is still there",
    source: "etcd issue 11456; Jepsen, etcd 3.4.3 (2020)",
    params: PARAMS,
    build: |args| design(args, Rules { looks_again: false, ..Rules::MUTEX }),
};
