//! The invariants: what a run must keep, each a pure function of its [`History`](crate::history::History).
//!
//! All are judged in the simulator's true time, from neutral events that every server emits, so that no invariant
//! knows a protocol. The numbers are those of the project's list of invariants. An invariant says
//! [`Outcome::NotAsked`](crate::outcome::Outcome::NotAsked) only when it had nothing to look at; whether a scheduled fault made a difference at all is
//! for the caller to add.

mod blocks;
pub mod clean_failure;
pub mod continuity;
pub mod effective_exclusion;
mod findings;
pub mod honest_validity;
mod in_the_way;
mod invariant;
mod livelock;
pub mod mutual_exclusion;
pub mod no_lost_update;
mod orphaned_grants;
pub mod ownership;
pub mod progress;
pub mod reentrancy;
mod shared_records;
#[cfg(test)]
pub(crate) mod testing;
pub mod token_order;
pub mod truthful_answers;

pub use findings::between;
pub use invariant::Invariant;

/// All invariants, by number.
pub const ALL: &[Invariant] = &[
    mutual_exclusion::INVARIANT,
    effective_exclusion::INVARIANT,
    token_order::INVARIANT,
    ownership::INVARIANT,
    progress::INVARIANT,
    reentrancy::INVARIANT,
    no_lost_update::INVARIANT,
    honest_validity::INVARIANT,
    continuity::INVARIANT,
    clean_failure::INVARIANT,
    truthful_answers::INVARIANT,
];

/// The invariant of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Invariant> {
    ALL.iter().find(|invariant| invariant.name == name)
}
