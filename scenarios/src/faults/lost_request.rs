//! F16, a request is lost: it never reaches the server, and the connection dies before the client learns of it.
//!
//! To the client it is the same as a lost reply, and the opposite is true: nothing was executed.

use picklock_model::plan::{Action, Injection, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::needs_permitted_links;
use super::params::{
    CLIENT, DURING, FOLLOWING, LINKS, NTH, PEER, PHASE, SECTION, TIMES, any_section, no_time,
};
use super::site::{AtSite, Where, here};

pub(super) const FAULT: Fault = Fault {
    name: "lost-request",
    also: &["lose-request"],
    number: "F16",
    doc: "a request is lost and its connection dies: it is never executed",
    params: params![TIMES, LINKS, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: needs_permitted_links,
    schedule,
    at_sites: &[AtSite {
        name: "lost-request",
        doc: "a request is lost with its connection; no store executes it",
        scenario: "lost-request",
        at: Where::Request,
        actions: |_, point| vec![(here(point), Action::LoseRequest { to: Target::host(&*point.peer) })],
    }],
    own_action: None,
    hits: Hits::Messages,
    lasts: no_time,
    served: &[],
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let Some(point) = draw.send() else { return Vec::new() };
    let (client, to) = (Target::host(&*point.host), Target::host(&*point.peer));
    vec![draw.inject(at(point), client, Action::LoseRequest { to })]
}
