//! What is done to a lock, and what is said of it: scenarios, workloads, faults, and the loops that search.
//!
//! The pipe is [`check`]: a [`Scenario`](scenario::Scenario), a design and a seed are drawn into a plan, the plan is
//! run, and the [invariants](picklock_judge::invariants) judge the trace. Nothing flows back: a fault never looks at a verdict, an invariant never
//! touches the world. [`campaign`] makes many runs of many cells, [`shrink`] reduces the violating ones, [`tell`]
//! confirms and keeps them; these are loops around the pipe.
//!
//! ```
//! use picklock_scenarios::check;
//! use picklock_scenarios::scenario::Scenario;
//! use picklock_sim::design::Design;
//! use picklock_sim::engine::Engine;
//! use picklock_sim::host::Host;
//! use picklock_model::ids::Key;
//! use picklock_sim::lock::{Client, Grant, Lock, LockError};
//! use picklock_model::seed::Seed;
//!
//! /// Grants everything to everybody.
//! struct Generous(Host);
//!
//! impl Lock for Generous {
//!     async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
//!         Ok(Some(Grant::new(key, self.0.rng().owner_id())))
//!     }
//!     async fn release(&self, _: Grant) -> Result<(), LockError> {
//!         Ok(())
//!     }
//! }
//!
//! let design = Design::new("generous", |seat| async move { Ok(Client::lock(Generous(seat.host))) });
//! let mut scenario = Scenario::parse("quiet.toml", "summary = 'nothing goes wrong'", &[])?;
//! scenario.set("clients=2")?;
//!
//! // Not every scenario says something of every design: this one does, and may change the servers it gets.
//! let design = scenario.applies(&design)?;
//! let run = check::seed(Engine::Event, &design, &scenario, Seed(7))?;
//! assert!(run.violates("mutual-exclusion"));
//! for (invariant, findings) in run.violations() {
//!     println!("{}: {}", invariant.name, findings[0].text);
//! }
//!
//! // The same seed gives the same run.
//! let again = check::seed(Engine::Event, &design, &scenario, Seed(7))?;
//! assert_eq!(again.trace.digest, run.trace.digest);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! - *What can be asked for*: [`scenario`] (the files), [`suite`] (those that come with picklock), [`faults`],
//!   [`workloads`] (what clients do with their lock).
//! - *What is told of one*: [`story`], [`trials`] (what it depends on, found out by runs).
//! - *What is tried everywhere*: [`explore`].
//! - *Whether runs can be made again*: [`doctor`].
//! - *What is said of many*: [`tally`], [`summary`] (what every report reads), [`expect`] (what is known of the built-in
//!   designs), [`allow`] (what the author of a lock lets it violate), [`bugs`] (how those of the collection are found).
//!
//! To add a fault or a workload takes a file and a line in the list beside it; a scenario of the built-in
//! suite takes the file alone.

pub mod about;
pub mod allow;
pub mod bugs;
pub mod campaign;
pub mod check;
pub mod doctor;
pub mod expect;
pub mod explore;
pub mod faults;
pub mod files;
pub mod patience;
pub mod scenario;
pub mod shrink;
pub mod story;
pub mod suite;
pub mod summary;
pub mod tally;
pub mod tell;
#[cfg(test)]
mod testing;
pub mod trials;
pub mod workloads;
