//! F10, stores die while a section works and come back soon, with what they kept: nothing, or every acknowledged
//! write, as the parameter `persistence` of the world says.
//!
//! A store that forgets a lock may grant it again; a lock over many stores survives as long as fewer of them forget
//! than its quorum overlaps by.
//!
//! With `restarts=poolers` the poolers before the stores die instead: clients lose their connections, and the stores, which run on, end the sessions
//! of the pooler.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Target, When};
use picklock_model::trace::Role;
use picklock_sim::store::Topology;

use super::clock_step::{hold, working};
use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::{enough, needs_stores};
use super::params::{AFTER, CLIENT, PHASE, POWER_LOSS, SECTION, TIMES, any_section};
use super::served::Served;
use super::site::{AtSite, Where, here, servers};
use picklock_sim::param::{Args, Param, Share, Shares, Spans, Word};
use picklock_sim::params;

/// Stores that restart together do so within this span, as those of one rack do.
const TOGETHER: Duration = Duration::from_millis(5);

pub(super) const FAULT: Fault = Fault {
    name: "node-restart",
    also: &["restart"],
    number: "F10",
    doc: "stores die while a section works and come back soon",
    params: params![
        TIMES,
        RESTARTS,
        FORGETTING,
        HELD,
        CUT,
        RESTART_AFTER,
        IN,
        CLIENT,
        SECTION,
        AFTER,
        POWER_LOSS
    ],
    from_points: true,
    last_section: any_section,
    applies,
    schedule,
    at_sites: &[AtSite {
        name: "node-restart",
        doc: "a server loses its power and is started anew after a twentieth of a lease",
        scenario: "node-restart",
        at: Where::Process(servers),
        actions: |stage, point| {
            let restart_after = Some(stage.ttl / 20);
            vec![(here(point), Action::Crash { power_loss: true, restart_after })]
        },
    }],
    own_action: None,
    hits: Hits::Hosts,
    lasts,
    served: &[Served {
        form: "node-restart HOST at TIME [restart TIME]",
        read: |words| {
            let restart_after = Some(Duration::from_secs(1));
            Ok((words.server()?, Action::Crash { power_loss: true, restart_after }))
        },
    }],
};

const RESTARTS: Param<Word> = Param {
    name: "restarts",
    domain: Word(&["stores", "poolers"]),
    default: "stores",
    doc: "which servers die: stores, or the poolers before them; without a pooler none dies then",
};

const FORGETTING: Param<Shares> = Param {
    name: "forgetting",
    domain: Shares,
    default: "quorum",
    doc: "how many of the stores die; what they forget, the parameter `persistence` says",
};

const HELD: Param<Shares> = Param {
    name: "held",
    domain: Shares,
    default: "random",
    doc: "on how many stores client-1's first section holds its lock, of which those that restart are taken first; \
          random: any section, on as many as it gets",
};

const CUT: Param<Spans> = Param {
    name: "cut",
    domain: Spans::UP_TO_HOUR,
    default: "1 x ttl",
    doc: "how long from the start client-1 is cut off from the stores that it shall not hold",
};

const RESTART_AFTER: Param<Spans> = Param {
    name: "restart_after",
    domain: Spans::UP_TO_HOUR,
    default: "10ms..0.1 x ttl",
    doc: "how long a store is down",
};

/// The phases in which it may hit, of which the parameter `phase` chooses.
const PHASES: [Phase; 5] = [Phase::Acquire, Phase::Read, Phase::Work, Phase::Write, Phase::Release];

/// In which phase it hits. What `held` arranges is for the work of client-1's first section.
const IN: Param<Word> = Param {
    default: "work",
    doc: "the phase of a section in which they die; with `held` given it is the work",
    ..PHASE
};

fn applies(args: &Args, topology: Topology) -> Result<(), String> {
    needs_stores(args, topology)?;
    enough(args, FORGETTING, topology.stores)?;
    enough(args, HELD, topology.stores)
}

/// Without a majority of its stores no design does anything.
fn lasts(args: &Args) -> Option<Param<Spans>> {
    matches!(args.get(FORGETTING), Share::All | Share::Quorum).then_some(RESTART_AFTER)
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (power_loss, after) = (draw.get(POWER_LOSS), draw.get(AFTER));
    let count = draw.get(FORGETTING);
    let mut injections = Vec::new();
    let poolers = draw.args().get(RESTARTS) == "poolers";
    let (point, stores) = if poolers || draw.args().get(HELD) == Share::Random {
        let Some(point) = draw.entry(&PHASES) else { return injections };
        let hosts = if poolers { draw.servers(|role| role == Role::Proxy) } else { draw.stores() };
        (point, draw.some(hosts, count))
    } else {
        let (held, cut) = (draw.get(HELD), draw.get(CUT));
        let stores;
        (stores, injections) = hold(draw, held, cut, count);
        (working("client-1", 1), stores)
    };
    injections.extend(stores.into_iter().map(|store| {
        let after = after + draw.rng().span(Duration::ZERO, TOGETHER);
        let action = Action::Crash { power_loss, restart_after: Some(draw.get(RESTART_AFTER)) };
        draw.inject(When::Point { point: point.clone(), after }, Target::host(store), action)
    }));
    injections
}
