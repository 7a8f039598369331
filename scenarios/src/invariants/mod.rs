//! The invariants: what a run must keep, each a pure function of its [`History`](crate::history::History).
//!
//! All are judged in the simulator's true time, from neutral events that every server emits, so that no invariant
//! knows a protocol. The numbers are those of the project's list of invariants. An invariant says
//! [`Outcome::Unknown`](crate::outcome::Outcome::Unknown) only when it had nothing to look at; whether a scheduled fault made a difference at all is
//! for the caller to add.

mod blocks;
mod findings;
mod in_the_way;
mod invariant;
mod rivals;
#[cfg(test)]
pub(crate) mod testing;
mod unclaimed;

// The list begins: a file a line, by number.
pub mod mutual_exclusion;
pub mod effective_exclusion;
pub mod token_order;
pub mod ownership;
pub mod progress;
pub mod reentrancy;
pub mod no_lost_update;
pub mod honest_validity;
pub mod continuity;
pub mod clean_failure;
pub mod truthful_answers;
// The list ends.

pub use findings::between;
pub use invariant::Invariant;

/// All invariants, by number.
pub const ALL: &[Invariant] = include!(concat!(env!("OUT_DIR"), "/invariants.rs"));

/// The invariant of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Invariant> {
    ALL.iter().find(|invariant| invariant.name == name)
}
