//! F9, replication lag: the primary acknowledges what its replicas do not have yet, and dies.
//!
//! Everything that the primary sends to its replicas is late, for as long as the sections take when nothing goes wrong;
//! meanwhile it crashes while a section works. Whether the lock survives depends on whether its record was on the way (Redis documentation,
//! "Distributed locks": why failover-based implementations are not enough).

use picklock_sim::plan::{Injection, Lever, Target, When};
use picklock_sim::time::TrueTime;
use picklock_sim::trace::Role;

use super::draw::Draw;
use super::failover::{RETURN_AFTER, crash};
use super::fault::Fault;
use super::needs::needs_replicas;
use super::params::{AFTER, POWER_LOSS, TIMES_AT_MOST_ONCE};
use picklock_sim::param::{Domain, Param};

pub(super) const FAULT: Fault = Fault {
    name: "replication-lag",
    number: "F9",
    doc: "the primary is ahead of its replicas and dies while a section works",
    params: &[
        TIMES_AT_MOST_ONCE,
        Param {
            name: "by",
            domain: Domain::spans(),
            default: "0.5 x ttl..2 x ttl",
            doc: "how late the replicas are",
        },
        AFTER,
        POWER_LOSS,
        RETURN_AFTER,
    ],
    from_probe: true,
    applies: needs_replicas,
    schedule,
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let by = draw.span("by");
    let mut injections = crash(draw);
    if injections.is_empty() {
        return injections;
    }
    let replicas = Target::Hosts(draw.servers(|role| role == Role::Replica));
    let lag = Lever::Delay { to: replicas, by, lasts: draw.calm_end().since(TrueTime(0)), messages: None };
    injections.insert(0, draw.inject(When::At { at_ns: TrueTime(0) }, Target::Leader, lag));
    injections
}
