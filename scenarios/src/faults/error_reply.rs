//! F13, a request is refused with an error although nothing else is wrong: a store that is out of memory, read only or still
//! loading answers so.
//!
//! It hits the store to which a client of the lock sends at that moment: an acquire, a renewal or a release.

use picklock_model::plan::{Action, Injection, Target};

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{CLIENT, DURING, FOLLOWING, NTH, PEER, PHASE, SECTION, TIMES, any_section, no_time};
use super::site::{AtSite, Where};
use picklock_sim::param::{Counts, Param};
use picklock_sim::params;
use picklock_sim::resource;

/// The fault action that a kind of store must have.
const ACTION: &str = "error-reply";

pub(super) const FAULT: Fault = Fault {
    name: "error-reply",
    also: &[],
    number: "F13",
    doc: "a store refuses requests with an error",
    params: params![TIMES, REPLIES, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[AtSite {
        name: "error-reply",
        doc: "a store refuses a request with an error",
        scenario: "error-reply",
        at: Where::Request,
        actions: |stage, point| {
            let store = stage.has(ACTION) && *point.peer != *resource::HOST;
            let action = || Action::Own { name: ACTION.to_owned(), count: 1 };
            store.then(|| (Target::host(&*point.peer), action())).into_iter().collect()
        },
    }],
    own_action: Some(ACTION),
    hits: Hits::Requests,
    lasts: no_time,
    served: &[],
};

const REPLIES: Param<Counts> = Param {
    name: "replies",
    domain: Counts(1, 1_000),
    default: "1",
    doc: "how many requests in a row the store refuses, whoever sends them",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let count = draw.get(REPLIES) as u32;
    let Some(point) = draw.send_to_store() else { return Vec::new() };
    let store = Target::host(&*point.peer);
    vec![draw.inject(at(point), store, Action::Own { name: ACTION.to_owned(), count })]
}
