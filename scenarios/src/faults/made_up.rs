//! A made-up fault, for the test of the parts of a new one: the clock of a client jumps, and then its process stops.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::always;
use super::params::{FOR, TIMES, any_section, for_its_time};
use super::served::Served;
use super::site::{AtSite, Where, clients, here};

const STEP: Action = Action::StepClock { by_ns: 1_000_000 };

pub(super) const FAULT: Fault = Fault {
    name: "made-up",
    also: &[],
    number: "F0",
    doc: "a client's clock jumps, and then its process stops",
    params: params![TIMES, FOR],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "made-up",
        doc: "a client's clock jumps, and then its process stops",
        scenario: "made-up",
        at: Where::Before(clients),
        actions: |stage, point| {
            vec![(here(point), STEP), (here(point), Action::Pause { lasts: stage.lasts })]
        },
    }],
    own_action: None,
    hits: Hits::Hosts,
    lasts: for_its_time,
    served: &[Served {
        form: "made-up HOST at TIME for TIME",
        read: |words| Ok((words.host()?, Action::Pause { lasts: Duration::ZERO })),
    }],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some(point) = draw.process_point(|_| true) else { return Vec::new() };
    let client = Target::host(&*point.host);
    vec![
        draw.inject(at(point.clone()), client.clone(), STEP),
        draw.inject(at(point), client, Action::Pause { lasts }),
    ]
}
