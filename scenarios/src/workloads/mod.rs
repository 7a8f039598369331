//! What clients do with their lock.

mod contend;

use picklock_sim::run::Workload;

/// One workload.
pub struct Kind {
    /// Its name, as scenario files spell it.
    pub name: &'static str,
    /// What it does, in one line.
    pub claim: &'static str,
    /// Makes the program of its clients.
    pub program: fn() -> Workload,
}

/// All workloads.
pub const ALL: &[Kind] = &[contend::KIND];

/// The workload of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Kind> {
    ALL.iter().find(|kind| kind.name == name)
}
