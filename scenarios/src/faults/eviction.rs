//! F14, a store drops the record of a lock while it is held, because it needs the memory (`maxmemory` with a policy that evicts
//! keys which have a lease). That is what the `volatile-*` policies do. Under `allkeys-*` what has no lease goes too: the record of
//! `setnx`, the counters that tokens are drawn from. That is left out on purpose: no lock is meant to survive it.

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{AFTER, CLIENT, SECTION, TIMES, any_section, no_time};
use picklock_sim::param::{Param, Shares};
use picklock_sim::params;

/// The fault action that a kind of store must have.
const ACTION: &str = "evict";

pub(super) const FAULT: Fault = Fault {
    name: "eviction",
    also: &[],
    number: "F14",
    doc: "stores drop the record of a lock that has a lease while a section works, as under volatile-* policies",
    params: params![TIMES, STORES, AFTER, CLIENT, SECTION],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[],
    own_action: Some(ACTION),
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[],
};

const STORES: Param<Shares> =
    Param { name: "stores", domain: Shares, default: "quorum", doc: "how many of the stores" };

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (after, count) = (draw.get(AFTER), draw.get(STORES));
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    let stores = draw.some(draw.stores(), count);
    let action = Action::Own { name: ACTION.to_owned(), count: 1 };
    let evict = |store: String| {
        draw.inject(When::Point { point: point.clone(), after }, Target::host(store), action.clone())
    };
    stores.into_iter().map(evict).collect()
}
