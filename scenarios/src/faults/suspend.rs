//! F3, a suspension: as a pause, and the process's monotonic clock stands still too. A virtual machine that is
//! suspended or migrated.
//!
//! Deadlines on the monotonic clock move by the suspension, so that even a holder who checks them honestly can rely
//! on a lease that has run out.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::always;
use super::params::{
    CLIENT, DURING, FOLLOWING, FOR, NTH, PEER, PHASE, SECTION, TIMES, any_section, for_its_time,
};
use super::served::Served;
use super::site::{AtSite, Where, anybody, here};

pub(super) const FAULT: Fault = Fault {
    name: "suspend",
    also: &[],
    number: "F3",
    doc: "a client's process stops for a while and its monotonic clock with it",
    params: params![TIMES, FOR, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "suspend",
        doc: "a process stops and its monotonic clock with it",
        scenario: "suspend",
        at: Where::Process(anybody),
        actions: |stage, point| vec![(here(point), Action::Suspend { lasts: stage.lasts })],
    }],
    own_action: None,
    hits: Hits::Hosts,
    lasts: for_its_time,
    served: &[Served {
        form: "suspend HOST at TIME for TIME",
        read: |words| Ok((words.host()?, Action::Suspend { lasts: Duration::ZERO })),
    }],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some(point) = draw.process_point(|_| true) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Action::Suspend { lasts })]
}
