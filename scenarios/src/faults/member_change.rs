//! F22, a member leaves a store that elects its leader, and comes back: it is taken out of the group and stopped, and added and started again
//! later. A group changes by one member at a time, and loses nothing by it.
//!
//! It comes back with its disk, which Raft permits. An operator of etcd has it come back as a new member with an empty one.
//!
//! Source: etcd documentation, Runtime reconfiguration; Ongaro's dissertation (2014), 4.1.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Target, When};
use picklock_model::trace::Role;

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_replicas;
use super::params::{AFTER, TIMES_AT_MOST_ONCE, any_section};
use picklock_sim::param::{Param, Spans, Word};
use picklock_sim::params;

/// The fault action that a kind of store must have to let a member go.
const ACTION: &str = "remove-member";

/// The one by which it comes back.
const COMES_BACK: &str = "add-member";

/// Within this span a member stops once it is out.
const STOPS: Duration = Duration::from_millis(200);

pub(super) const FAULT: Fault = Fault {
    name: "member-change",
    also: &[],
    number: "F22",
    doc: "a member is taken out of a store that elects its leader and stopped, and added and started again later",
    params: params![TIMES_AT_MOST_ONCE, MEMBER, FOR, AFTER],
    from_points: true,
    last_section: any_section,
    applies: needs_replicas,
    schedule,
    at_sites: &[],
    own_action: Some(ACTION),
    hits: Hits::Hosts,
    lasts: |_| Some(FOR),
    served: &[],
};

const MEMBER: Param<Word> = Param {
    name: "member",
    domain: Word(&["leader", "follower", "random"]),
    default: "random",
    doc: "which member leaves: the one that leads at the start, another one, or either",
};

const FOR: Param<Spans> = Param {
    name: "for",
    domain: Spans::UP_TO_HOUR,
    default: "0.5 x ttl..2 x ttl",
    doc: "how long it is away",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (lasts, after) = (draw.get(FOR), draw.get(AFTER));
    let stops = draw.rng().span(Duration::ZERO, STOPS);
    let role = match draw.get(MEMBER) {
        "leader" => Some(Role::Leader),
        "follower" => Some(Role::Follower),
        _ => None,
    };
    let Some(point) = draw.entry(&[Phase::Acquire, Phase::Work]) else { return Vec::new() };
    let all = draw.servers(|role| matches!(role, Role::Leader | Role::Follower));
    let may_leave =
        draw.servers(|its| role.map_or(matches!(its, Role::Leader | Role::Follower), |role| its == role));
    let Some(leaves) = draw.rng().pick(&may_leave).cloned() else { return Vec::new() };
    let others: Vec<String> = all.iter().filter(|member| **member != leaves).cloned().collect();
    let number = all.iter().position(|member| *member == leaves).map_or(0, |at| at as u32 + 1);
    let asks = |name: &str| Action::Own { name: name.to_owned(), count: number };
    let when = |later: Duration| When::Point { point: point.clone(), after: after + later };
    let stop = Action::Crash { power_loss: false, restart_after: Some(lasts) };
    vec![
        draw.inject(when(Duration::ZERO), Target::Leader, asks(ACTION)),
        draw.inject(when(stops), Target::host(leaves), stop),
        // Whoever leads by then does it; for a moment that may be nobody.
        draw.inject(when(lasts), Target::Hosts(others), asks(COMES_BACK)),
    ]
}
