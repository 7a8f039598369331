//! What strikes whom at which step, in words.

use picklock_campaign::explore::Shape;
use picklock_model::plan::{Access, Edge, Phase};
use picklock_model::trace::Role;

/// A shape in words: "pause of a client while it writes the resource, before it sends to the resource".
pub(super) fn words(shape: &Shape) -> String {
    format!("{}, {}", whom(shape), step(shape))
}

/// What strikes whom, and in which phase.
pub(super) fn whom(shape: &Shape) -> String {
    let whom = match shape.role {
        Role::Client => "a client",
        Role::Resource => "the resource",
        Role::Store => "a store",
        Role::Replica => "a replica",
        Role::Watcher => "a watcher",
    };
    let way = match (shape.strike.as_str(), shape.backwards) {
        ("clock-step", true) => " backwards",
        ("clock-step", false) => " forwards",
        _ => "",
    };
    let phase = match shape.phase {
        Phase::Idle => "",
        Phase::Acquire => " while it acquires",
        Phase::Read => " while it reads the resource",
        Phase::Work => " while it works",
        Phase::Write => " while it writes the resource",
        Phase::Release => " while it releases",
    };
    format!("{}{way} of {whom}{phase}", shape.strike)
}

/// At which step.
pub(super) fn step(shape: &Shape) -> String {
    let peer = match shape.peer {
        None => "",
        Some(Role::Client) => "a client",
        Some(Role::Resource) => "the resource",
        Some(Role::Store) => "a store",
        Some(Role::Replica) => "a replica",
        Some(Role::Watcher) => "a watcher",
    };
    let before = shape.edge == Edge::Before;
    match (shape.access, before) {
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
