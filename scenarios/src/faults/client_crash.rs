//! F4, a client dies anywhere in a section. Its connections close, or, on a power loss, do not.
//!
//! It is not started anew: a restarted client is a new client to every lock here, and the others show whether the
//! lock was left in a state that they can go on from.

use picklock_model::plan::{Injection, Lever, Target};

use super::draw::{Draw, at};
use super::fault::Fault;
use super::needs::always;
use super::params::{CLIENT, DURING, FOLLOWING, NTH, PEER, PHASE, POWER_LOSS, SECTION, TIMES, any_section};

pub(super) const FAULT: Fault = Fault {
    name: "client-crash",
    number: "F4",
    doc: "a client's process dies anywhere in a section",
    params: &[TIMES, POWER_LOSS, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_probe: true,
    last_section: any_section,
    applies: always,
    schedule,
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let power_loss = draw.yes("power_loss");
    let Some(point) = draw.process_point(|_| true) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Lever::Crash { power_loss, restart_after: None })]
}
