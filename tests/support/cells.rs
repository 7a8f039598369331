//! Built-in designs under built-in scenarios, run in this process.

use picklock_campaign::check::{self, Checked};
use picklock_model::seed::Seed;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

/// A design under a scenario that says something of it.
pub(crate) struct Cell {
    /// The design's spelling.
    pub(crate) name: String,
    /// The design as it stands in the scenario.
    pub(crate) design: Design,
    pub(crate) scenario: Scenario,
}

/// The design of a spelling.
pub(crate) fn design(spelling: &str) -> Design {
    picklock_impls::design(spelling).expect("the test spells a built-in design")
}

impl Cell {
    /// The cell of a design and a scenario; `None` if the scenario does not apply to the design.
    pub(crate) fn of(design: &Design, scenario: Scenario) -> Option<Cell> {
        let name = design.name.to_string();
        scenario.adapt(design).ok().map(|design| Cell { name, design, scenario })
    }

    /// One run.
    pub(crate) fn run(&self, engine: Engine, seed: u64) -> Checked {
        let run = check::seed(engine, &self.design, &self.scenario, Seed(seed));
        run.unwrap_or_else(|error| panic!("{} under {}: {error}", self.name, self.scenario.name()))
    }
}
