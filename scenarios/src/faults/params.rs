//! Parameters that several faults have, and what they permit.

use picklock_sim::plan::{Phase, Point};
use picklock_sim::resource;

use picklock_sim::param::{Domain, Param, YES_NO_RANDOM};

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

/// Whether a point lies in the phase of this name.
pub(super) fn in_phase(name: &str, point: &Point) -> bool {
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
