//! A scenario: a world, a workload and faults, each with bounds within which a seed draws one run.
//!
//! A scenario is read from a TOML file ([`Scenario::parse`], [`Scenario::load`]), changed from outside
//! ([`Scenario::set`]) and, with a design and a seed, drawn into a [`Plan`](picklock_model::plan::Plan). Drawing is a pure
//! function: the same scenario, design, seed and probe run give the same plan. What a scenario cannot say on purpose: anything
//! about a lock's internals, and any expectation of the outcome.
//!
//! ```
//! use picklock_scenarios::scenario::Scenario;
//!
//! let mut scenario = Scenario::parse(
//!     "long-pause.toml",
//!     r#"
//!     summary = "one client stops for a long time"
//!     ttl = "2s"
//!     [contend]
//!     clients = 2
//!     [[fault]]
//!     kind = "pause"
//!     for = ["1 x ttl", "3 x ttl"]
//!     "#,
//!     &[],
//! )?;
//! scenario.set("pause.for=2s..4s")?;
//! assert_eq!(scenario.name(), "long-pause");
//! # Ok::<(), picklock_scenarios::scenario::ScenarioError>(())
//! ```

mod autonomous;
mod former;
mod parts;
mod plans;
mod read;
mod set;
#[cfg(test)]
mod tests;
pub mod world;

pub use autonomous::is_up_to_the_client;
pub use parts::{Scenario, Settable};
pub use read::text as read_text;
pub use set::set_each;

pub use crate::error::{Place, Problem, ScenarioError, Spot};
pub use crate::faults::FaultEntry;
pub use picklock_sim::param;
