//! F4, a client dies anywhere in a section. Its connections close, or, on a power loss, do not.
//!
//! It is not started anew: a restarted client is a new client to every lock here, and the others show whether the
//! lock was left in a state that they can go on from.

use picklock_model::plan::{Action, Injection, Target};
use picklock_model::trace::Role;
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::always;
use super::params::{
    CLIENT, DURING, FOLLOWING, NTH, PEER, PHASE, POWER_LOSS, SECTION, TIMES, any_section, no_time,
};
use super::served::Served;
use super::site::{AtSite, Where, here, no_resource};

pub(super) const FAULT: Fault = Fault {
    name: "client-crash",
    also: &["crash", "kill"],
    number: "F4",
    doc: "a client's process dies anywhere in a section",
    params: params![TIMES, POWER_LOSS, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "client-crash",
        doc: "a client dies for good, or a server where there are several",
        scenario: "client-crash",
        at: Where::Process(no_resource),
        actions: |stage, point| {
            let lone = stage.lone_store && stage.role(&point.host) == Role::Leader;
            let dies = || (here(point), Action::Crash { power_loss: false, restart_after: None });
            (!lone).then(dies).into_iter().collect()
        },
    }],
    own_action: None,
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[
        Served {
            form: "kill HOST at TIME [restart TIME]",
            read: |words| Ok((words.server()?, Action::Crash { power_loss: false, restart_after: None })),
        },
        Served {
            form: "power-loss HOST at TIME [restart TIME]",
            read: |words| Ok((words.server()?, Action::Crash { power_loss: true, restart_after: None })),
        },
    ],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let power_loss = draw.get(POWER_LOSS);
    let Some(point) = draw.process_point(|_| true) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Action::Crash { power_loss, restart_after: None })]
}
