//! F11, wall clocks are moved: NTP after a long absence, an operator, a leap second done badly.
//!
//! On nodes the arithmetic of quorums is put to the test. Client-1's first section is granted on exactly `held` of
//! the N nodes, because it is cut off from the others while it asks. Then `stepped` nodes, those that it holds first, jump
//! by more than a lease and forget it. The free nodes are now `N - held + min(stepped, held)`: another client can be granted the
//! lock exactly if they are a quorum. For that the workload must give client-1 a head start (`head_start`) and long
//! work (`first_work`); with `held` below a quorum nobody holds at all.
//!
//! The cut lasts beyond the step on purpose: at its end the requests that it held back are delivered, and would
//! make client-1 hold all nodes after all.
//!
//! On replicas nothing is lost at once, since a replica deletes nothing by itself. But one that is promoted counts leases
//! by its own clock: they were copied as the instants at which they end, and those come earlier there by as much as it is
//! ahead.
//!
//! On clients one client's wall clock moves while its section works, which concerns locks that measure validity on it.

use std::time::Duration;

use picklock_model::plan::{Access, Action, Edge, Injection, Phase, Point, Target, When};
use picklock_model::time::{TrueTime, nanos};
use picklock_model::trace::Role;
use picklock_sim::store::Topology;

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::{enough, needs_replicas, needs_stores};
use super::params::{TIMES_AT_MOST_ONCE, any_section, no_time};
use super::served::{Served, time};
use super::site::{AtSite, Where, here, no_resource};
use picklock_sim::param::{Args, Param, Shares, Spans, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "clock-step",
    also: &["step"],
    number: "F11",
    doc: "wall clocks jump while a section works: of nodes that hold its lock, or of its client",
    params: params![TIMES_AT_MOST_ONCE, WHO, HELD, STEPPED, BY, WAY, AFTER, CUT],
    from_points: false,
    last_section: any_section,
    applies,
    schedule,
    at_sites: &[AtSite {
        name: "clock-step",
        doc: "the wall clock of a client or a server jumps, forwards or backwards",
        scenario: "clock-step",
        at: Where::Before(no_resource),
        actions: |stage, point| {
            let by = i64::try_from(nanos(stage.lasts)).unwrap_or(i64::MAX);
            [by, -by].map(|by_ns| (here(point), Action::StepClock { by_ns })).to_vec()
        },
    }],
    own_action: None,
    hits: Hits::Records,
    lasts: no_time,
    served: &[Served {
        form: "step HOST by TIME|-TIME at TIME",
        read: |words| {
            let host = words.host()?;
            words.word("by")?;
            let by = words.next("how far to step")?;
            let (sign, size) = by.strip_prefix('-').map_or((1, by), |size| (-1, size));
            let size = i64::try_from(time(size)?.as_nanos()).map_err(|_| format!("`{by}` is too far"))?;
            Ok((host, Action::StepClock { by_ns: sign * size }))
        },
    }],
};

const WHO: Param<Word> = Param {
    name: "who",
    domain: Word(&["nodes", "replicas", "clients"]),
    default: "nodes",
    doc: "whose clocks: nodes that client-1's first section holds, all replicas of stores, or one client's",
};

const HELD: Param<Shares> =
    Param { name: "held", domain: Shares, default: "all", doc: "on how many nodes the lock is held" };

const STEPPED: Param<Shares> = Param {
    name: "stepped",
    domain: Shares,
    default: "quorum",
    doc: "how many nodes jump, the held ones first",
};

const BY: Param<Spans> =
    Param { name: "by", domain: Spans::UP_TO_HOUR, default: "1.1 x ttl..3 x ttl", doc: "how far they jump" };

const WAY: Param<Word> = Param {
    name: "way",
    domain: Word(&["forwards", "backwards", "random"]),
    default: "forwards",
    doc: "the direction: forwards kills leases, backwards lengthens them",
};

const AFTER: Param<Spans> = Param {
    name: "after",
    domain: Spans::UP_TO_HOUR,
    default: "0.02 x ttl..0.1 x ttl",
    doc: "how far into the section's work they jump",
};

const CUT: Param<Spans> = Param {
    name: "cut",
    domain: Spans::UP_TO_HOUR,
    default: "1 x ttl",
    doc: "how long from the start client-1 is cut off from the nodes that it shall not hold",
};

fn applies(args: &Args, topology: Topology) -> Result<(), String> {
    match args.get(WHO) {
        "clients" => return Ok(()),
        "replicas" => return needs_replicas(args, topology),
        _ => {}
    }
    needs_stores(args, topology)?;
    enough(args, HELD, topology.stores)?;
    enough(args, STEPPED, topology.stores)
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let coin = draw.rng().percent(50);
    let by = i64::try_from(nanos(draw.get(BY))).unwrap_or(i64::MAX);
    let backwards = match draw.get(WAY) {
        "forwards" => false,
        "backwards" => true,
        _ => coin,
    };
    let step = Action::StepClock { by_ns: if backwards { -by } else { by } };
    let after = draw.get(AFTER);
    match draw.get(WHO) {
        "clients" => clients(draw, step, after),
        "replicas" => replicas(draw, step, after),
        _ => nodes(draw, step, after),
    }
}

fn nodes(draw: &mut Draw<'_>, step: Action, after: Duration) -> Vec<Injection> {
    let (held, stepped, cut) = (draw.get(HELD), draw.get(STEPPED), draw.get(CUT));
    let (nodes, mut injections) = hold(draw, held, cut, stepped);
    if !nodes.is_empty() {
        let nodes = Target::Hosts(with_replicas(draw, nodes));
        let when = When::Point { point: working("client-1", 1), after };
        injections.push(draw.inject(when, nodes, step));
    }
    injections
}

/// Lets client-1 hold its lock on so many nodes only, by cutting it off from the others, and names so many nodes to hit:
/// held ones come before free ones, for a free node has nothing to forget.
pub(super) fn hold(
    draw: &mut Draw<'_>,
    held: usize,
    cut: Duration,
    hit: usize,
) -> (Vec<String>, Vec<Injection>) {
    let mut nodes = draw.stores();
    draw.rng().shuffle(&mut nodes);
    let others = nodes[held.min(nodes.len())..].to_vec();
    nodes.truncate(hit);
    let mut injections = Vec::new();
    if !others.is_empty() {
        let action = Action::Cut { to: Target::Hosts(sorted(others)), both: true, lasts: cut };
        injections.push(draw.inject(When::At { at_ns: TrueTime(0) }, Target::host("client-1"), action));
    }
    (sorted(nodes), injections)
}

/// The replicas of a node jump with it: whichever of them is the primary when it happens, its clock is wrong.
fn with_replicas(draw: &Draw<'_>, mut nodes: Vec<String>) -> Vec<String> {
    let replicas = draw.replicas_of(&nodes);
    nodes.extend(replicas);
    nodes
}

fn replicas(draw: &Draw<'_>, step: Action, after: Duration) -> Vec<Injection> {
    let replicas = draw.servers(|role| role == Role::Follower);
    vec![draw.inject(When::Point { point: working("client-1", 1), after }, Target::Hosts(replicas), step)]
}

fn clients(draw: &mut Draw<'_>, step: Action, after: Duration) -> Vec<Injection> {
    let sections = draw.sections();
    let Some((client, section)) = draw.rng().pick(&sections).copied() else { return Vec::new() };
    vec![draw.inject(When::Point { point: working(client, section), after }, Target::host(client), step)]
}

/// The beginning of a section's work. Every section that gets the lock reaches it: no probe run is needed.
pub(super) fn working(client: &str, section: u32) -> Point {
    Point {
        host: client.into(),
        section,
        phase: Phase::Work,
        access: Access::Enter,
        peer: "".into(),
        nth: 0,
        edge: Edge::Before,
    }
}

fn sorted(mut hosts: Vec<String>) -> Vec<String> {
    hosts.sort_unstable();
    hosts
}
