//! F6, a reply is lost: the request was executed, the connection dies before the client learns of it.
//!
//! The client cannot distinguish this from a request that was never executed; a lock that assumes either is wrong half of
//! the time.

use picklock_model::plan::{Action, Injection, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::needs_permitted_links;
use super::params::{
    CLIENT, DURING, FOLLOWING, LINKS, NTH, PEER, PHASE, SECTION, TIMES, any_section, no_time,
};
use super::served::Served;
use super::site::{AtSite, Where, here};

pub(super) const FAULT: Fault = Fault {
    name: "lost-reply",
    also: &["lose-reply"],
    number: "F6",
    doc: "a request is executed and its connection dies before the reply",
    params: params![TIMES, LINKS, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: needs_permitted_links,
    schedule,
    at_sites: &[AtSite {
        name: "lost-reply",
        doc: "a request is executed, and its connection breaks before the reply",
        scenario: "lost-reply",
        at: Where::Request,
        actions: |_, point| vec![(here(point), Action::LoseReply { from: Target::host(&*point.peer) })],
    }],
    own_action: None,
    hits: Hits::Messages,
    lasts: no_time,
    served: &[Served {
        form: "lose-reply HOST to HOST at TIME",
        read: |words| {
            let from = words.host()?;
            words.word("to")?;
            Ok((words.other_than(&from)?, Action::LoseReply { from }))
        },
    }],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let Some(point) = draw.send() else { return Vec::new() };
    let (client, from) = (Target::host(&*point.host), Target::host(&*point.peer));
    vec![draw.inject(at(point), client, Action::LoseReply { from })]
}
