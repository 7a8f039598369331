//! The loops of picklock: one run checked, many runs counted, a violation reduced and explained.
//!
//! The pipe is [`check`]: a [`Scenario`](picklock_scenarios::scenario::Scenario), a design and a seed are drawn into a plan, the plan is run,
//! and the [invariants](picklock_judge::invariants) judge the trace. Nothing flows back: a fault never sees a verdict, an invariant never
//! touches the world. Everything else here is a loop around the pipe.
//!
//! **Entry point:** [`check::seed`] for one run, [`Campaign`](campaign::Campaign) for many.
//!
//! # Where things are
//!
//! - *One run*: [`check`] draws a plan, runs it and has it judged; it also makes the fault-free runs from which faults are drawn.
//! - *Many runs*: `request` (designs, scenarios and seeds of a campaign), [`campaign`] (runs on many threads, in shards, with a journal), [`explore`] (a
//!   fault at every injection site), [`determinism`] (each plan run twice: are the runs equal?).
//! - *A violation*: [`shrink`] reduces its plan, [`ablation`] finds out which parts it needs, [`counterexamples`] has it confirmed ([`confirmation`]) and
//!   keeps it as a [`story`].
//! - *Reviewed data*: [`expect`] (the verdicts of the built-in designs), [`allow`] (what the author of a lock lets it violate), [`bugs`] (how the rebuilt
//!   bugs are found).
//! - *Results*: [`tally`] adds runs up, [`summary`] is what every report reads, [`about`] describes designs and scenarios.
//! - *The machine*: [`files`] are written whole or not at all, [`patience`] limits the time for reducing.
//!
//! # What is not here
//!
//! No design (the root hands them in), no scenario file, no invariant, and no text for people: that is `picklock_reports`.
//!
//! # Example
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
//! let design = scenario.adapt(&design)?;
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

pub mod ablation;
pub mod about;
pub mod allow;
pub mod bugs;
pub mod campaign;
pub mod check;
pub mod confirmation;
pub mod counterexamples;
pub mod determinism;
pub mod expect;
pub mod explore;
pub mod files;
mod parallel;
pub mod patience;
mod request;
pub mod shrink;
pub mod story;
pub mod summary;
pub mod tally;
