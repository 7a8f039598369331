//! picklock tries to break distributed locks: the real client code of a lock runs in a simulated world of clocks, processes and networks
//! that fail, and the run is judged in true time. A run is a pure function of the lock, the scenario and the seed.
//!
//! This crate is the facade for a lock of your own, and the place where all other crates meet.
//!
//! **Entry point:** [`gate()`] tests a lock in a `#[test]`. The lock is written with the redis crate against a [`Host`], which is all that it
//! may touch: clocks, timers, tasks, connections, random numbers. [`on_redis`] makes a [`Design`] of it:
//!
//! ```
//! use std::time::Duration;
//!
//! use picklock::{Connection, Design, Grant, Key, Lock, LockError, Context, on_redis};
//! use redis::cmd;
//!
//! /// SET NX PX to acquire, DEL to release: whoever comes late deletes the lock of somebody else.
//! struct Hasty {
//!     redis: Connection,
//!     ttl: Duration,
//! }
//!
//! impl Hasty {
//!     async fn connect(context: Context) -> Result<Hasty, LockError> {
//!         Ok(Hasty { redis: Connection::to(&context, 0)?, ttl: context.ttl })
//!     }
//! }
//!
//! impl Lock for Hasty {
//!     async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
//!         let mut set = cmd("SET");
//!         set.arg(key.as_str()).arg("taken").arg("NX").arg("PX").arg(self.ttl.as_millis() as u64);
//!         let granted: bool = set.query_async(&mut self.redis.clone()).await?;
//!         Ok(granted.then(|| Grant::new(key, "taken")))
//!     }
//!
//!     async fn release(&self, grant: Grant) -> Result<(), LockError> {
//!         cmd("DEL").arg(grant.key.as_str()).query_async::<()>(&mut self.redis.clone()).await?;
//!         Ok(())
//!     }
//! }
//!
//! fn hasty() -> Design {
//!     on_redis("hasty", 1, Hasty::connect)
//! }
//!
//! // As long as nothing goes wrong it is a lock.
//! picklock::gate(hasty()).scenarios(["calm"]).seeds(20).assert_holds();
//!
//! // A client that stops for longer than its lease finds that it was not.
//! let verdict = picklock::gate(hasty()).scenarios(["pause"]).seeds(40).assert_violates("mutual-exclusion");
//! println!("{verdict}");
//! ```
//!
//! The page that is printed shows, in the smallest run found, how two clients came to hold the lock at once. The same run is kept in a
//! file, from which [`replay`] makes it again.
//!
//! # Where things are
//!
//! - `gate`: the test harness; `experiments`: a file for each claim about locks; `cli`: a file for each command.
//! - [`model`]: plans and traces as data. [`sim`]: the world, and the contracts of a design and of a store kind.
//! - [`stores`]: the store kinds. [`impls`]: the designs that come with picklock, and the [`Connection`] to a Redis.
//! - [`scenarios`]: scenarios, faults, workloads. [`judge`]: invariants and measures. [`campaign`]: the loops around a run.
//! - [`reports`]: text, JSON, JUnit, Markdown, HTML, and the timeline of one run.
//! - [`Program`]: an unmodified program in any language as a design, by the crate `picklock_programs`.
//!
//! `docs/architecture.md` is the map of the code, `docs/glossary.md` has the terms.
//!
//! # What is not here
//!
//! No design, no fault, no invariant and no report: each is in the crate of its kind. The command line (`picklock run`, `replay`, `compare`,
//! `list`) is the feature `cli`, on by default; a crate that only tests its lock does without:
//! `picklock = { version = "0.1", default-features = false }`.

pub mod experiments;
mod gate;
#[cfg(doctest)]
mod guide;
#[cfg(feature = "cli")]
pub mod museum;

pub use picklock_campaign as campaign;
pub use picklock_impls as impls;
pub use picklock_judge as judge;
pub use picklock_model as model;
pub use picklock_reports as reports;
pub use picklock_scenarios as scenarios;
pub use picklock_sim as sim;
pub use picklock_stores as stores;

pub use gate::{Gate, GateError, Seeds, Verdict, gate, replay};
pub use impls::{Connection, on_redis, on_redis_with};
/// An unmodified program that is asked for a lock by lines, as a [`Design`]: `gate(program("python3 lock.py").on_redis(3))`.
#[must_use]
pub fn program(command: impl Into<String>) -> Program {
    Program::new(command)
}

pub use model::ids::{Key, Token};
pub use model::time::{Monotonic, WallTime};
pub use picklock_programs::Program;
pub use sim::design::{Condition, Context, Design, StoreAddress, Topology};
pub use sim::engine::Engine;
pub use sim::host::{Elapsed, Host};
pub use sim::lock::{Belief, Client, Deadline, Direct, Exclusion, Grant, Lock, LockError, Retry};
pub use sim::store::{Member, ServerContext, SimulatedStore, StoreSpec};
pub use sim::task::Task;
pub use stores::Servers;
