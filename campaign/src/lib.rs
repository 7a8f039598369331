//! What is done to a lock, and what is said of it: scenarios, workloads, faults, and the loops that search.
//!
//! The pipe is [`check`]: a [`Scenario`](picklock_scenarios::scenario::Scenario), a design and a seed are drawn into a plan, the plan is
//! run, and the [invariants](picklock_judge::invariants) judge the trace. Nothing flows back: a fault never looks at a verdict, an invariant never
//! touches the world. [`campaign`] makes many runs of many cells, [`shrink`] reduces the violating ones, [`tell`]
//! confirms and keeps them; these are loops around the pipe.
//!
//! ```
//! use picklock_campaign::check;
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
//! let design = Design::new("generous", |context| async move { Ok(Client::lock(Generous(context.host))) });
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
//! - *One run*: [`check`] draws a plan, runs it and has it judged.
//! - *Many runs*: [`campaign`] of many cells; [`explore`], which tries faults everywhere; [`doctor`], whether runs can be made
//!   again.
//! - *A violation*: [`shrink`] reduces its plan; [`ablation`] finds out what it depends on; [`tell`] confirms and keeps it as a
//!   [`story`].
//! - *What is known before*: [`expect`] (of the built-in designs), [`allow`] (what the author of a lock lets it violate),
//!   [`bugs`] (how those of the collection are found).
//! - *What comes out*: [`tally`] and [`summary`], which every report reads, with what [`about`] says of designs and scenarios.
//! - *The machine*: [`files`] are written whole or not at all; [`patience`] is how long reducing may take.

pub mod ablation;
pub mod about;
pub mod allow;
pub mod bugs;
pub mod campaign;
pub mod check;
pub mod doctor;
pub mod expect;
pub mod explore;
pub mod files;
pub mod patience;
pub mod shrink;
pub mod story;
pub mod summary;
pub mod tally;
pub mod tell;
