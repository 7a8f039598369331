//! Workloads: what each client does under one seed, and how it does it.

use std::time::Duration;

use picklock_sim::design::Design;
use picklock_sim::plan::ClientPlan;
use picklock_sim::run;
use picklock_sim::seed::Seed;

use picklock_sim::param::{Args, Param};

mod contend;
mod nested;
mod section;
mod sell;
mod shape;

/// A kind of work that clients do.
#[derive(Debug)]
pub struct Workload {
    /// Its name: what a plan calls it, and the table of a scenario file that holds its parameters.
    pub name: &'static str,
    /// What clients do, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Whether clients of a design can do that at all; if not, why, as a fragment.
    pub applies: fn(&Design) -> Result<(), String>,
    /// What each client does, from parameters, lease time and seed.
    pub draw: fn(&Args, Duration, Seed) -> Vec<ClientPlan>,
    /// The program that carries it out.
    pub program: fn() -> run::Workload,
}

/// The workloads; the first is the one of a scenario that names none.
pub const ALL: &[&Workload] = &[&contend::CONTEND, &nested::NESTED, &sell::SELL];

fn always(_: &Design) -> Result<(), String> {
    Ok(())
}

fn needs_reentrancy(design: &Design) -> Result<(), String> {
    if design.reentrant {
        Ok(())
    } else {
        Err("its sections acquire once more what they hold, and the design does not let them".into())
    }
}

/// The workload of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}
