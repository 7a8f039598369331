//! The signature of a failure in words: what hits whom at which step.

use picklock_campaign::explore::Signature;
use picklock_model::plan::{Access, Edge, Phase};
use picklock_model::trace::Role;

/// A signature in words: "pause of a client while it writes the resource, before it sends to the resource".
pub(super) fn words(signature: &Signature) -> String {
    format!("{}, {}", whom(signature), step(signature))
}

/// The fault, the host that it hits, and the phase.
pub(super) fn whom(signature: &Signature) -> String {
    let whom = match signature.role {
        Role::Client => "a client",
        Role::Resource => "the resource",
        Role::Leader => "a store",
        Role::Follower => "a replica",
        Role::Monitor => "a monitor",
        Role::Proxy => "a pooler",
        Role::Renewer => "a renewal service",
    };
    let way = match signature.backwards {
        Some(true) => " backwards",
        Some(false) => " forwards",
        None => "",
    };
    let phase = match signature.phase {
        Phase::Idle => "",
        Phase::Acquire => " while it acquires",
        Phase::Read => " while it reads the resource",
        Phase::Work => " while it works",
        Phase::Write => " while it writes the resource",
        Phase::Release => " while it releases",
    };
    format!("{}{way} of {whom}{phase}", signature.fault)
}

/// At which step.
pub(super) fn step(signature: &Signature) -> String {
    let peer = match signature.peer {
        None => "",
        Some(Role::Client) => "a client",
        Some(Role::Resource) => "the resource",
        Some(Role::Leader) => "a store",
        Some(Role::Follower) => "a replica",
        Some(Role::Monitor) => "a monitor",
        Some(Role::Proxy) => "a pooler",
        Some(Role::Renewer) => "a renewal service",
    };
    let before = signature.edge == Edge::Before;
    match (signature.access, before) {
        (Access::Enter, true) => "as it begins".to_owned(),
        (Access::Enter, false) => "when it has begun".to_owned(),
        (Access::Write, true) => format!("before it sends to {peer}"),
        (Access::Write, false) => format!("after it has sent to {peer}"),
        (Access::Read, true) => format!("before it is handed what {peer} sent"),
        (Access::Read, false) => format!("after it was handed what {peer} sent"),
        (Access::Clock, true) => "before it reads a clock".to_owned(),
        (Access::Clock, false) => "after it has read a clock".to_owned(),
        (Access::Poll, true) => "before one of its tasks runs".to_owned(),
        (Access::Connects, before) => program(before, "connects"),
        (Access::Accepts, before) => program(before, "takes a connection"),
        (Access::Receives, before) => program(before, "reads"),
        (Access::Sends, before) => program(before, "sends"),
        (Access::Prints, before) => program(before, "prints a line"),
        (Access::Waits, before) => program(before, "waits for something to happen"),
        (Access::Sleeps, before) => program(before, "sleeps"),
        (Access::Poll, false) => "as one of its tasks runs".to_owned(),
    }
}

fn program(before: bool, does: &str) -> String {
    format!("{} its program {does}", if before { "before" } else { "as" })
}
