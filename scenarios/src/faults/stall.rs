//! F2, a stall: only the critical section stands still, background tasks such as a lease's renewal go on.
//! A slow call to a third party, a thread that waits for a disk.
//!
//! It hits while the section reads, works or writes, mostly while it works.

use picklock_model::plan::{Action, Injection, Phase, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::always;
use super::params::{CLIENT, DURING, FOLLOWING, FOR, NTH, SECTION, TIMES, any_section, for_its_time};
use super::site::{AtSite, Where, clients, here};

/// How often, in a hundred, the stall comes while the section works.
const WORK_PERCENT: u64 = 60;

pub(super) const FAULT: Fault = Fault {
    name: "stall",
    also: &[],
    number: "F2",
    doc: "a critical section stands still for a while; the client's background tasks go on",
    params: params![TIMES, FOR, CLIENT, SECTION, NTH, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "stall",
        doc: "a critical section stops; its client's background tasks go on",
        scenario: "stall",
        at: Where::Process(clients),
        actions: |stage, point| vec![(here(point), Action::Stall { lasts: stage.lasts })],
    }],
    own_action: None,
    hits: Hits::Calls,
    lasts: for_its_time,
    served: &[],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let phases: &[Phase] = if draw.rng().percent(WORK_PERCENT) {
        &[Phase::Work]
    } else {
        &[Phase::Read, Phase::Work, Phase::Write]
    };
    let Some(point) = draw.process_point(|point| phases.contains(&point.phase)) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Action::Stall { lasts })]
}
