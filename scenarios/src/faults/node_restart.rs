//! F10, stores die while a section works and come back soon, with what they kept: nothing, or every acknowledged
//! write, as the parameter `persistence` of the world says.
//!
//! A store that forgets a lock may grant it again; a lock over many stores survives as long as fewer of them forget
//! than its quorum overlaps by.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Target, When};
use picklock_sim::store::Topology;

use super::clock_step::{hold, working};
use super::draw::Draw;
use super::fault::Fault;
use super::needs::{enough, needs_stores};
use super::params::{AFTER, POWER_LOSS, TIMES, any_section};
use super::site::{AtSite, Where, here, servers};
use picklock_sim::param::{Args, Domain, Param};

/// Stores that restart together do so within this span, as those of one rack do.
const TOGETHER: Duration = Duration::from_millis(5);

pub(super) const FAULT: Fault = Fault {
    name: "node-restart",
    number: "F10",
    doc: "stores die while a section works and come back soon",
    params: &[
        TIMES,
        Param {
            name: "forgetting",
            domain: Domain::Share,
            default: "quorum",
            doc: "how many of the stores die; what they forget, the parameter `persistence` says",
        },
        Param {
            name: "held",
            domain: Domain::Share,
            default: "random",
            doc: "on how many stores client-1's first section holds its lock, of which those that restart are taken first; \
                  random: any section, on as many as it gets",
        },
        Param {
            name: "cut",
            domain: Domain::spans(),
            default: "1 x ttl",
            doc: "how long from the start client-1 is cut off from the stores that it shall not hold",
        },
        Param {
            name: "restart_after",
            domain: Domain::spans(),
            default: "10ms..0.1 x ttl",
            doc: "how long a store is down",
        },
        AFTER,
        POWER_LOSS,
    ],
    from_points: true,
    last_section: any_section,
    applies,
    schedule,
    at_site: Some(AtSite {
        name: "restart",
        doc: "a server loses its power and is started anew after a twentieth of a lease",
        scenario: "node-restart",
        at: Where::Process(servers),
        act: |stage, point| {
            let restart_after = Some(stage.ttl / 20);
            vec![(here(point), Action::Crash { power_loss: true, restart_after })]
        },
    }),
    served: &[],
};

fn applies(args: &Args, topology: Topology) -> Result<(), String> {
    needs_stores(args, topology)?;
    enough(args, "forgetting", topology.stores)?;
    enough(args, "held", topology.stores)
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (power_loss, after) = (draw.yes("power_loss"), draw.span("after"));
    let count = draw.share("forgetting");
    let mut injections = Vec::new();
    let (point, stores) = if draw.is_random("held") {
        let Some(point) = draw.entry(&[Phase::Work]) else { return injections };
        (point, draw.some(draw.stores(), count))
    } else {
        let (held, cut) = (draw.share("held"), draw.span("cut"));
        let stores;
        (stores, injections) = hold(draw, held, cut, count);
        (working("client-1", 1), stores)
    };
    injections.extend(stores.into_iter().map(|store| {
        let after = after + draw.rng().span(Duration::ZERO, TOGETHER);
        let action = Action::Crash { power_loss, restart_after: Some(draw.span("restart_after")) };
        draw.inject(When::Point { point: point.clone(), after }, Target::host(store), action)
    }));
    injections
}
