//! F5, one message takes longer than a lease: a request of a client, or the reply to it.
//!
//! Messages behind it on the same connection wait for it, as TCP keeps their order; other links are not touched.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Target};

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::needs_permitted_links;
use super::params::{CLIENT, DURING, FOLLOWING, LINKS, NTH, PEER, PHASE, SECTION, TIMES, any_section};
use super::served::Served;
use super::site::{AtSite, Where, here};
use picklock_sim::param::{Param, Spans, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "delay",
    also: &[],
    number: "F5",
    doc: "one request of a client, or the reply to it, takes longer than a lease",
    params: params![TIMES, BY, WAY, LINKS, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: needs_permitted_links,
    schedule,
    at_sites: &[AtSite {
        name: "delay",
        doc: "a message and all later ones of its connection arrive late",
        scenario: "delay",
        at: Where::Message,
        actions: |stage, point| {
            let (to, by) = (Target::host(&*point.peer), stage.lasts);
            vec![(here(point), Action::Delay { to, by, lasts: stage.ttl, messages: Some(1) })]
        },
    }],
    own_action: None,
    hits: Hits::Messages,
    lasts: |_| Some(BY),
    served: &[Served {
        form: "delay HOST to HOST by TIME at TIME for TIME",
        read: |words| {
            let from = words.host()?;
            words.word("to")?;
            let to = words.other_than(&from)?;
            let by = words.after("by")?.ok_or("it needs `by TIME`")?;
            Ok((from, Action::Delay { to, by, lasts: Duration::ZERO, messages: None }))
        },
    }],
};

const BY: Param<Spans> = Param {
    name: "by",
    domain: Spans::UP_TO_HOUR,
    default: "1 x ttl..3 x ttl",
    doc: "how much longer it takes",
};

const WAY: Param<Word> = Param {
    name: "way",
    domain: Word(&["request", "reply", "random"]),
    default: "random",
    doc: "which of the two it is",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let by = draw.get(BY);
    let coin = draw.rng().percent(50);
    let reply = match draw.get(WAY) {
        "request" => false,
        "reply" => true,
        _ => coin,
    };
    let Some(point) = draw.send() else { return Vec::new() };
    let (client, server) = (Target::host(&*point.host), Target::host(&*point.peer));
    let (from, to) = if reply { (server, client) } else { (client, server) };
    // The window is only for a message that never comes: the first one that does ends it.
    let action = Action::Delay { to, by, lasts: draw.world().ttl, messages: Some(1) };
    vec![draw.inject(at(point), from, action)]
}
