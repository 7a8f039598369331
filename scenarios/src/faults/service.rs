//! F20, a service that stands between clients and a store is out of order: it stands still, it dies and comes back, or it is cut off from the client
//! that works, or from the store. The client that works goes on as if nothing was wrong.
//!
//! Such a service is a proxy or a renewal service: a host that keeps no data and is no client. Where there is none, nothing is hit.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Target};
use picklock_model::trace::Role;
use picklock_sim::param::{Param, Spans, Word};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{CLIENT, FOR, POWER_LOSS, SECTION, TIMES, any_section, for_its_time};

pub(super) const FAULT: Fault = Fault {
    name: "service",
    also: &[],
    number: "F20",
    doc: "a service between clients and a store stands still, dies, or is cut off while a section works",
    params: params![TIMES, HOW, FOR, DOWN_FOR, POWER_LOSS, CLIENT, SECTION],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts: for_its_time,
    served: &[],
};

const HOW: Param<Word> = Param {
    name: "how",
    domain: Word(&["pause", "crash", "cut-client", "cut-store"]),
    default: "pause",
    doc: "what happens to the service: it stands still, it dies and is started anew, or it is cut off from the client that \
          works, or from the store",
};

const DOWN_FOR: Param<Spans> = Param {
    name: "down_for",
    domain: Spans { min: Duration::from_millis(1), max: picklock_sim::param::HOUR },
    default: "0.5 x ttl..2 x ttl",
    doc: "how long a service that dies is down",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (lasts, down, power_loss) = (draw.get(FOR), draw.get(DOWN_FOR), draw.get(POWER_LOSS));
    let services = draw.servers(|role| matches!(role, Role::Proxy | Role::Renewer));
    let stores = draw.servers(|role| matches!(role, Role::Leader | Role::Follower));
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    if services.is_empty() {
        return Vec::new();
    }
    let action = match draw.args().get(HOW) {
        "crash" => Action::Crash { power_loss, restart_after: Some(down) },
        "cut-client" => Action::Cut { to: Target::host(&*point.host), both: true, lasts },
        "cut-store" => Action::Cut { to: Target::Hosts(stores), both: true, lasts },
        _ => Action::Pause { lasts },
    };
    vec![draw.inject(at(point), Target::Hosts(services), action)]
}
