//! The type of a workload: parameters, what it draws from them, and the program that carries it out.

use std::time::Duration;

use picklock_model::plan::ClientPlan;
use picklock_model::seed::Seed;
use picklock_sim::design::Design;
use picklock_sim::run;

use picklock_sim::param::{Args, Param};

/// A kind of work that clients do.
#[derive(Debug)]
pub struct Workload {
    /// Its name: what a plan calls it, and the table of a scenario file that holds its parameters.
    pub name: &'static str,
    /// The work of clients, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// `Ok` if clients of a design can do that at all; if not, why, as a fragment.
    pub applies: fn(&Design) -> Result<(), String>,
    /// The plan of each client, from parameters, lease time and seed.
    pub draw: fn(&Args, Duration, Seed) -> Vec<ClientPlan>,
    /// The program that carries it out.
    pub program: fn() -> run::Workload,
}

/// It can be done with any design.
pub(super) fn always(_: &Design) -> Result<(), String> {
    Ok(())
}
