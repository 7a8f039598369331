//! F21, an operator moves the slots of a cluster while locks in them are held: a node is added, or one has too much to do.
//!
//! Clients are sent to the node that gets the slots, key by key. A lock is there when its key is: nothing is lost.
//!
//! Source: "Redis cluster specification", redis.io, Live resharding.

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::fault::Fault;
use super::needs::needs_replicas;
use super::params::{AFTER, CLIENT, SECTION, TIMES, any_section};
use picklock_sim::param::{Counts, Param};
use picklock_sim::params;

/// The fault action that a kind of store must have.
pub(super) const ACTION: &str = "move-slot";

pub(super) const FAULT: Fault = Fault {
    name: "moved-slot",
    number: "F21",
    doc: "the slots of the first keys of each shard of a cluster are moved to another shard while a section works",
    params: params![TIMES, SLOTS, AFTER, CLIENT, SECTION],
    from_points: true,
    last_section: any_section,
    applies: needs_replicas,
    schedule,
    at_sites: &[],
    served: &[],
};

const SLOTS: Param<Counts> = Param {
    name: "slots",
    domain: Counts(1, 1_000),
    default: "1",
    doc: "how many slots of each shard, at most",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (after, count) = (draw.get(AFTER), draw.get(SLOTS) as u32);
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    let shards = Target::Hosts(draw.stores());
    vec![draw.inject(When::Point { point, after }, shards, Action::Own { name: ACTION.to_owned(), count })]
}
