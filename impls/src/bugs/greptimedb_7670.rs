//! GreptimeDB #7670: the answer comes after the client has given up, and its session has the lock.
//!
//! *Claim:* one metadata server leads: the one whose session has an advisory lock.
//! *Mechanism:* a time-out of the client ends its wait for `pg_try_advisory_lock`, and the connection goes back to its pool alive. The statement is
//! executed all the same: a session that nobody takes for the leader's has the lock, and nobody else can lead while it lasts.
//! *Versions:* 0.15.0 on; 1.0.0-rc.2 takes the connection out of the pool and closes it.
//! *Source:* <https://github.com/GreptimeTeam/greptimedb/issues/7670>, mended by <https://github.com/GreptimeTeam/greptimedb/pull/7673>
//!
//! Left out: `idle_session_timeout`, which ended such a session after five seconds there.

use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::session_lock::{Ways, design};
use super::version::FIXED;

/// The lock that a forgotten session has.
pub(super) static FAMILY: Family = Family {
    name: "greptimedb-7670",
    claim: "pg_try_advisory_lock in a session of a pool, with a time-out of the client",
    weakness: "a session of which the answer came too late has the lock, and goes back to the pool",
    source: "GreptimeDB from 0.15.0 on, before 1.0.0-rc.2, https://github.com/GreptimeTeam/greptimedb/issues/7670",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    design(Ways { asks_again: false, keeps_late: !args.get(FIXED) })
}
