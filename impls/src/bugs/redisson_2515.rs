//! Redisson #2515: after one lock was lost, no later one is renewed.
//!
//! *Claim:* a lock is kept alive while its holder's process runs.
//! *Mechanism:* a renewal that fails is the last one, and its entry stays in the map of what is being renewed. The release
//! that follows finds that the lock has run out, throws, and does not take the entry out either. The next lock of the same
//! name finds the entry, takes it for a sign that a timer runs, and starts none: it ends with its first lease, and so do all
//! after it.
//! *Versions:* Redisson before 3.12.1. Since then every release takes the entry out.
//! *Source:* <https://github.com/redisson/redisson/issues/2515>, mended by
//! <https://github.com/redisson/redisson/pull/2518>
//!
//! The lock in which the renewal failed is lost in either version.

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use super::watching::renewed_until;
use crate::client::policy::STORE;

/// The lock that is renewed no more.
pub(super) static FAMILY: Family = Family {
    name: "redisson-2515",
    claim: "Redisson's RLock, renewed by its watchdog until it is released",
    weakness: "an entry that a failed renewal left behind keeps later locks from being renewed",
    source: "Redisson before 3.12.1, https://github.com/redisson/redisson/issues/2515",
    params: params![FIXED, STORE],
    build: |args| renewed_until(args, |left| !matches!(left, Ok(None))),
};
