//! Wolverine #2691: a leader that asks for its lock again has it once more, and gives it back once.
//!
//! *Claim:* one node leads: the one whose session has an advisory lock.
//! *Mechanism:* at each heartbeat the leader calls `pg_try_advisory_lock` once more, to see that it still leads. A session has a lock as often as
//! it has asked for it. One unlock at the end takes one of these away, and the connection goes back to its pool with the rest.
//! *Versions:* 5.36.0 to 5.37; 5.38.0 does not ask again.
//! *Source:* <https://github.com/JasperFx/wolverine/pull/2691>

use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::session_lock::{Ways, design};
use super::version::FIXED;

/// The lock that its holder takes again and again.
pub(super) static FAMILY: Family = Family {
    name: "wolverine-2691",
    claim: "pg_try_advisory_lock in a session of a pool, asked for again at each heartbeat",
    weakness: "a session has the lock as often as it asked, and one unlock leaves the rest",
    source: "Wolverine 5.36.0 to 5.37, https://github.com/JasperFx/wolverine/pull/2691",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    design(Ways { asks_again: !args.get(FIXED), keeps_late: false })
}
