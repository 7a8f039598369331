//! What can go wrong, one file a fault. A fault only schedules levers; it never looks at what comes of it.
//!
//! Each fault declares its parameters as data and a function that draws one strike: the injections that belong
//! together. How often it strikes is its parameter `times`. Every strike has a random stream of its own, so that one
//! fault or strike more or less leaves the draws of all others alone.
//!
//! Faults that hit a client draw from the protocol points of a calm run of the same seed, because a point that has
//! meaning ("the write to the resource in that section") is reached again on every engine and under every network,
//! while an instant is not.

use picklock_sim::plan::{Injection, Phase, Point};
use picklock_sim::resource;
use picklock_sim::store::Topology;

use crate::scenario::Problem;
use picklock_sim::param::{Args, Domain, Param, Share, YES_NO_RANDOM};

mod client_crash;
mod clock_drift;
mod clock_step;
mod delay;
mod draw;
mod failover;
mod lost_notification;
mod lost_reply;
mod node_restart;
mod partition;
mod pause;
mod replication_lag;
mod stall;
mod suspend;

pub use draw::{Draw, Setting};

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Its name in scenario files and reports.
    pub name: &'static str,
    /// Its number in the catalogue of faults, such as `F1`.
    pub number: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// True if it strikes at points that a calm run of the same seed passed.
    pub from_probe: bool,
    /// Whether it can strike a design with these servers at all; if not, why, as a fragment.
    pub applies: fn(&Args, Topology) -> Result<(), String>,
    /// Draws one strike; empty if the run has no place for it.
    pub schedule: fn(&mut Draw<'_>) -> Vec<Injection>,
}

/// All faults, in the order of the catalogue.
pub const ALL: &[&Fault] = &[
    &pause::PAUSE,
    &stall::STALL,
    &suspend::SUSPEND,
    &client_crash::CLIENT_CRASH,
    &delay::DELAY,
    &lost_reply::LOST_REPLY,
    &partition::PARTITION,
    &failover::FAILOVER,
    &replication_lag::REPLICATION_LAG,
    &node_restart::NODE_RESTART,
    &clock_step::CLOCK_STEP,
    &clock_drift::CLOCK_DRIFT,
    &lost_notification::LOST_NOTIFICATION,
];

/// The fault of this name.
///
/// # Errors
/// When there is none; the problem names the nearest.
pub fn find(name: &str) -> Result<&'static Fault, Problem> {
    let names: Vec<&str> = ALL.iter().map(|fault| fault.name).collect();
    ALL.iter()
        .find(|fault| fault.name == name)
        .copied()
        .ok_or_else(|| Problem::unknown("fault", name, &names))
}

/// How often a fault strikes.
const TIMES: Param =
    Param { name: "times", domain: Domain::Counts(0, 20), default: "1", doc: "how often it strikes" };

/// How often a fault strikes that would undo its own arithmetic if it struck twice.
const TIMES_AT_MOST_ONCE: Param = Param {
    name: "times",
    domain: Domain::Counts(0, 1),
    default: "1",
    doc: "how often it strikes: once, or not",
};

/// How long a fault of a client lasts.
const FOR: Param =
    Param { name: "for", domain: Domain::spans(), default: "0.5 x ttl..2 x ttl", doc: "how long it lasts" };

/// In which phase of a section a fault strikes.
const PHASE: Param = Param {
    name: "phase",
    domain: Domain::Word(&["any", "acquire", "read", "work", "write", "release"]),
    default: "any",
    doc: "the phase of a section in which it strikes",
};

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
const LINKS: Param = Param {
    name: "links",
    domain: Domain::Word(&["all", "lock", "resource"]),
    default: "all",
    doc: "which links of a client it touches: those to the servers of the lock, to the resource, or all",
};

/// Whether a crash is a power loss.
const POWER_LOSS: Param = Param {
    name: "power_loss",
    domain: YES_NO_RANDOM,
    default: "random",
    doc: "yes: connections are not closed, and disk writes that are not synced are lost",
};

/// How far into the work of a section a fault of servers strikes.
const AFTER: Param = Param {
    name: "after",
    domain: Domain::spans(),
    default: "0ms..20ms",
    doc: "how far into the section's work it strikes",
};

/// Whether `links` permits a fault on the link to this host.
fn permits(links: &str, peer: &str) -> bool {
    match links {
        "lock" => !peer.is_empty() && peer != resource::HOST,
        "resource" => peer == resource::HOST,
        _ => !peer.is_empty(),
    }
}

/// Whether a fault strikes at the records that stores keep of locks: their memory, or the clock that ends their leases.
pub(crate) fn strikes_records(fault: &Fault) -> bool {
    [node_restart::NODE_RESTART.name, clock_step::CLOCK_STEP.name].contains(&fault.name)
}

/// Whether a fault strikes only within the release of a lock.
pub(crate) fn strikes_release(fault: &Fault, args: &Args) -> bool {
    fault.params.iter().any(|param| param.name == PHASE.name) && args.word(PHASE.name) == "release"
}

fn always(_: &Args, _: Topology) -> Result<(), String> {
    Ok(())
}

fn needs_permitted_links(args: &Args, topology: Topology) -> Result<(), String> {
    if args.word("links") == "lock" { needs_stores(args, topology) } else { Ok(()) }
}

fn needs_stores(_: &Args, topology: Topology) -> Result<(), String> {
    if topology.stores == 0 {
        Err("it strikes at the lock's servers, and the design has none".into())
    } else {
        Ok(())
    }
}

fn needs_replicas(_: &Args, topology: Topology) -> Result<(), String> {
    if topology.replicated && topology.stores > 0 {
        Ok(())
    } else {
        Err("it strikes at a replicated store, and the design has none".into())
    }
}

/// Whether the parameter asks for more hosts than there are.
fn enough(args: &Args, name: &str, stores: u32) -> Result<(), String> {
    match args.share(name) {
        Share::Exactly(asked) if asked > u64::from(stores) => {
            Err(format!("its parameter `{name}` is {asked}, and the design has {stores} stores"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
