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
pub use invariant::{Evidence, Invariant, Promise, Recorded};

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
pub fn find(name: &str) -> Option<&'static Invariant> {
    ALL.iter().find(|invariant| invariant.name == name)
}

/// The names of the invariants about a promise.
pub fn about(promise: Promise) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |invariant| invariant.promise == promise).map(|invariant| invariant.name)
}

/// True if the invariant of this name is about a promise.
#[must_use]
pub fn is_about(name: &str, promise: Promise) -> bool {
    find(name).is_some_and(|invariant| invariant.promise == promise)
}

/// The place of an invariant in the order of severity, the most severe first; a name that is none comes last.
#[must_use]
pub fn severity(name: &str) -> u8 {
    find(name).map_or(u8::MAX, |invariant| invariant.severity)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_severity_is_there_once_and_no_name_is_less_severe_than_all() {
        let severities: BTreeSet<u8> = ALL.iter().map(|invariant| invariant.severity).collect();
        assert_eq!(severities.len(), ALL.len());
        assert!(severity("no such invariant") > *severities.last().expect("there are some"));
        assert_eq!(about(Promise::Data).collect::<Vec<_>>(), ["effective-exclusion", "no-lost-update"]);
    }
}
