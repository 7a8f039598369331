//! Parameters that several faults have, and what they permit.

use picklock_sim::plan::{Phase, Point};
use picklock_sim::resource;

use picklock_sim::param::{Args, Domain, Param, YES_NO_RANDOM};
use picklock_sim::store::Member;

/// How often a fault strikes.
pub(super) const TIMES: Param =
    Param { name: "times", domain: Domain::Counts(0, 20), default: "1", doc: "how often it strikes" };

/// How often a fault strikes that would undo its own arithmetic if it struck twice.
pub(super) const TIMES_AT_MOST_ONCE: Param = Param {
    name: "times",
    domain: Domain::Counts(0, 1),
    default: "1",
    doc: "how often it strikes: once, or not",
};

/// How long a fault of a client lasts.
pub(super) const FOR: Param =
    Param { name: "for", domain: Domain::spans(), default: "0.5 x ttl..2 x ttl", doc: "how long it lasts" };

/// In which phase of a section a fault strikes.
pub(super) const PHASE: Param = Param {
    name: "phase",
    domain: Domain::Word(&["any", "acquire", "read", "work", "write", "release"]),
    default: "any",
    doc: "the phase of a section in which it strikes",
};

/// Which clients it may strike.
pub(super) const CLIENT: Param = Param {
    name: "client",
    domain: Domain::Counts(1, MANY),
    default: "1..1000",
    doc: "which clients it may strike, by number",
};

/// Which sections of a client it may strike.
pub(super) const SECTION: Param = Param {
    name: "section",
    domain: Domain::Counts(1, MANY),
    default: "1..1000",
    doc: "which sections of the client it may strike, by number",
};

/// Which of several accesses of one kind it may strike.
pub(super) const NTH: Param = Param {
    name: "nth",
    domain: Domain::Counts(1, MANY),
    default: "1..1000",
    doc: "which of the reads, writes or looks at a clock of one phase it may strike, counted for each peer from 1",
};

/// Which servers it may strike a message to or from.
pub(super) const PEER: Param = Param {
    name: "peer",
    domain: Domain::Counts(0, MANY),
    default: "0..1000",
    doc: "which servers of the lock it may strike at, in the order of `picklock replay --full`, from 1; 0: the resource",
};

/// The fault within which it is to fall.
pub(super) const DURING: Param = Param {
    name: "during",
    domain: Domain::Word(TIES),
    default: "nothing",
    doc: "it strikes while this other fault of the scenario lasts, and the same client",
};

/// The fault after which it is to come.
pub(super) const FOLLOWING: Param = Param {
    name: "following",
    domain: Domain::Word(TIES),
    default: "nothing",
    doc: "it strikes when this other fault of the scenario has ended, and the same client",
};

const MANY: u64 = 1_000;

/// What a fault can be tied to.
const TIES: &[&str] = &[
    "nothing",
    "pause",
    "stall",
    "suspend",
    "delay",
    "partition",
    "failover",
    "replication-lag",
    "node-restart",
    "clock-step",
];

/// True if a point lies where a fault's parameters say, as far as it has them.
pub(super) fn is_in_place(args: &Args, servers: &[Member], point: &Point) -> bool {
    let within = |param: &Param, number: u64| {
        let (from, to) = args.counts(param.name);
        (from..=to).contains(&number)
    };
    let has = |param: &Param| args.param(param.name).is_some();
    let client = point.host.strip_prefix("client-").and_then(|number| number.parse().ok()).unwrap_or(0);
    let peer = || servers.iter().position(|member| *member.name == *point.peer).map_or(0, |at| at as u64 + 1);
    (!has(&PHASE) || in_phase(args.word(PHASE.name), point))
        && (!has(&CLIENT) || within(&CLIENT, client))
        && (!has(&SECTION) || within(&SECTION, u64::from(point.section)))
        && (!has(&NTH) || within(&NTH, u64::from(point.nth) + 1))
        && (!has(&PEER) || point.peer.is_empty() || within(&PEER, peer()))
}

/// Whether a point lies in the phase of this name.
fn in_phase(name: &str, point: &Point) -> bool {
    match name {
        "acquire" => point.phase == Phase::Acquire,
        "read" => point.phase == Phase::Read,
        "work" => point.phase == Phase::Work,
        "write" => point.phase == Phase::Write,
        "release" => point.phase == Phase::Release,
        _ => true,
    }
}

/// Which links a network fault touches.
pub(super) const LINKS: Param = Param {
    name: "links",
    domain: Domain::Word(&["all", "lock", "resource"]),
    default: "all",
    doc: "which links of a client it touches: those to the servers of the lock, to the resource, or all",
};

/// Whether a crash is a power loss.
pub(super) const POWER_LOSS: Param = Param {
    name: "power_loss",
    domain: YES_NO_RANDOM,
    default: "random",
    doc: "yes: connections are not closed, and disk writes that are not synced are lost",
};

/// How far into the work of a section a fault of servers strikes.
pub(super) const AFTER: Param = Param {
    name: "after",
    domain: Domain::spans(),
    default: "0ms..20ms",
    doc: "how far into the section's work it strikes",
};

/// Whether `links` permits a fault on the link to this host.
pub(super) fn permits(links: &str, peer: &str) -> bool {
    match links {
        "lock" => !peer.is_empty() && peer != resource::HOST,
        "resource" => peer == resource::HOST,
        _ => !peer.is_empty(),
    }
}
