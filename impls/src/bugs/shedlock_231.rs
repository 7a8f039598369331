//! ShedLock #231: a lease is written by one clock and looked at by another.
//!
//! *Claim:* a scheduled task runs on one node at a time.
//! *Mechanism:* the end of the lease is reckoned by the clock of the node that takes it, and compared with the clock of the node that
//! asks. One that is ahead by more than the rest of the lease takes a lock that is held.
//! *Versions:* all with the clocks of the application; 4.9.3 can use the clock of the database (`usingDbTime`).
//! *Source:* <https://github.com/lukas-krecan/ShedLock/issues/231>
//!
//! It is [`lease-row`](crate::postgres::lease_row) with `time=application`, and with `time=now` where it is fixed.

use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use crate::postgres::lease_row;

/// The lock that trusts the clocks of its clients.
pub(super) static FAMILY: Family = Family {
    name: "shedlock-231",
    claim: "ShedLock's row with a lease, by the clocks of the application",
    weakness: "a client whose clock is ahead takes a lock that is held",
    source: "ShedLock without usingDbTime, https://github.com/lukas-krecan/ShedLock/issues/231",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    lease_row::by_time(args, if args.get(FIXED) { "now" } else { "application" })
}
