//! Workloads: what each client does under one seed, and how it does it.

use std::time::Duration;

use picklock_sim::plan::ClientPlan;
use picklock_sim::run;
use picklock_sim::seed::Seed;

use crate::scenario::param::{Args, Param};

mod contend;
mod section;

/// A kind of work that clients do.
#[derive(Debug)]
pub struct Workload {
    /// Its name: what a plan calls it, and the table of a scenario file that holds its parameters.
    pub name: &'static str,
    /// What clients do, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// What each client does, from parameters, lease time and seed.
    pub draw: fn(&Args, Duration, Seed) -> Vec<ClientPlan>,
    /// The program that carries it out.
    pub program: fn() -> run::Workload,
}

/// The workloads; the first is the one of a scenario that names none.
pub const ALL: &[&Workload] = &[&contend::CONTEND];

/// The workload of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}
