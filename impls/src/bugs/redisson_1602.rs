//! Redisson #1602: a release that fails leaves the watchdog running, which keeps the lock for ever.
//!
//! *Claim:* a lock that nobody releases ends with its lease.
//! *Mechanism:* `unlock` asks the store first and stops the renewal when the store has said yes. If the request fails, it
//! throws, and the renewal goes on although its caller believes that it is done with the lock.
//! *Versions:* Redisson before 3.8.1 and 2.13.1. Since then the renewal ends whatever comes of the request, and so does the
//! lock with its lease.
//! *Source:* <https://github.com/redisson/redisson/issues/1602>

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use super::watching::renewed_until;
use crate::client::policy::STORE;

/// The lock that is renewed after its release has failed.
pub(super) static FAMILY: Family = Family {
    name: "redisson-1602",
    claim: "Redisson's RLock, renewed by its watchdog until it is released",
    weakness: "a release that fails does not stop the renewal: the lock is kept for as long as the process runs",
    source: "Redisson before 3.8.1, https://github.com/redisson/redisson/issues/1602",
    params: params![FIXED, STORE],
    build: |args| renewed_until(args, Result::is_ok),
};
