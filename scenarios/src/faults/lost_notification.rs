//! F15, a notification is lost: a client waits for the message that the lock is free, and the connection over which it
//! would come dies with the message.
//!
//! The publisher does not learn of it, and nobody sends it again. A client that only asks loses the reply to a
//! question instead.

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{TIMES, any_section, no_time};
use picklock_sim::param::{Param, Spans};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "lost-notification",
    also: &[],
    number: "F15",
    doc: "the next message of a store to a client that waits for the lock is lost with its connection",
    params: params![TIMES, AFTER],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[],
};

/// Long enough for a client to have subscribed, and short enough for most to wait still.
const AFTER: Param<Spans> = Param {
    name: "after",
    domain: Spans::UP_TO_HOUR,
    default: "10ms..0.2 x ttl",
    doc: "how long the client has waited by then",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let Some(point) = draw.entry(&[Phase::Acquire]) else { return Vec::new() };
    let (client, from) = (Target::host(&*point.host), Target::Hosts(draw.stores()));
    let when = When::Point { point, after: draw.get(AFTER) };
    vec![draw.inject(when, client, Action::LoseReply { from })]
}
