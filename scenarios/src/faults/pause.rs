//! F1, a stop-the-world pause: no task of a client runs, timers included, while its clocks go on and its sockets
//! buffer. Garbage collection, a scheduler that looks away, a debugger.
//!
//! It hits any access of any phase of a section: a stop between the check of a deadline and the write that the
//! check guards is what breaks most locks (M. Kleppmann, "How to do distributed locking", 2016). Pauses of servers
//! are left out: to a client they look like a delay.

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
    name: "pause",
    also: &[],
    number: "F1",
    doc: "a client's process stops for a while, anywhere in a section or in one phase of it; its clocks go on",
    params: params![TIMES, FOR, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "pause",
        doc: "the process of a client, a server or the resource stops; its clocks go on",
        scenario: "pause",
        at: Where::Process(anybody),
        actions: |stage, point| vec![(here(point), Action::Pause { lasts: stage.lasts })],
    }],
    own_action: None,
    hits: Hits::Hosts,
    lasts: for_its_time,
    served: &[Served {
        form: "pause HOST at TIME for TIME",
        read: |words| Ok((words.host()?, Action::Pause { lasts: Duration::ZERO })),
    }],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some(point) = draw.process_point(|_| true) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Action::Pause { lasts })]
}
