//! The gate: a lock of one's own against scenarios, as a test that passes or fails.
//!
//! It is the campaign that `picklock run` makes and is stricter with the lock. A run that violates something is made
//! twice, and so are the first runs of every scenario and a sample of the others: a lock that reads time or takes randomness
//! past its [`Host`] makes two runs that differ, which is reported instead of a verdict. A scenario without a conclusive run
//! fails, too.
//!
//! Violations that no lock of its kind can avoid are [allowed](Gate::allow) by name; all others fail. Saved runs are made
//! first. A gate with a [budget](Gate::budget) makes as many runs as there is time for; every other one makes the same
//! runs on every machine.
//!
//! Left out on purpose: expectations in a file. A test says in its own code what it expects.
//!
//! [`Host`]: crate::Host

mod campaign;
mod choose;
mod error;
mod explore;
mod heartbeat;
mod judge;
mod panics;
mod replay;
mod repro;
mod run;
mod saved;
mod settings;
mod unmade;
mod verdict;

pub use error::GateError;
pub use replay::replay;
pub use settings::{Gate, Seeds, gate};
pub use verdict::Verdict;
