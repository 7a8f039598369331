//! The lock designs that picklock tests, and the thin clients that they need.
//!
//! A design is a lock algorithm with its servers. The designs that share code are a family: one file in the room of its store, written with the redis crate or tokio-postgres as
//! its users would write it.
//!
//! **Entry point:** [`families`] lists the families with their parameters; [`design`] finds the design that a text spells:
//!
//! ```
//! let design = picklock_impls::design("redlock{nodes=7,clock=wall}")?;
//! assert_eq!(design.topology.stores, 7);
//! # Ok::<(), picklock_sim::design::SpellingError>(())
//! ```
//!
//! # Where things are
//!
//! - `catalogue`: the list of all families.
//! - A room for each kind of store, a file for each family: `control` (`no_lock`, `oracle`), `redis` (one store, replicated or not: `single`,
//!   `watchdog`, `reentrant` ..), `redlock` (several independent stores), [`postgres`] (`row_lock`, `unique_row`, `optimistic_row`), `etcd`, `consul`, `kubernetes`, `lockless` (`optimistic`, `unique_index`, `queue`).
//! - [`client`]: what designs share, whatever their store: `policy` (what a client relies on, how it retries), `renewal` (the background task),
//!   [`connection`](client::connection) (the redis crate's client over the streams of a host), [`session`](client::session) (tokio-postgres in the
//!   same way), `pool` (the free sessions of a client).
//! - [`mod@bugs`]: a file for each bug of a real library, rebuilt, with its twin without the bug; [`libraries`]: which design a library implements.
//! - [`own`]: a lock from outside becomes a design.
//!
//! To add a design or a bug takes a file and a line in the list beside it.
//!
//! # What is not here
//!
//! No fault, no scenario, no verdict: a lock never sees how it is tested. The servers are crates of their own ([`picklock_redis`] and others);
//! they speak a protocol and know nothing of locks.
//!
//! # A lock of your own
//!
//! Implement [`Lock`](picklock_sim::lock::Lock) with everything taken from the host: its clocks, its sleep, its random
//! numbers. [`on_redis`] makes a design of the function that connects a client:
//!
//! ```
//! use std::time::Duration;
//!
//! use picklock_impls::{Connection, on_redis};
//! use picklock_sim::design::Context;
//! use picklock_sim::host::Host;
//! use picklock_model::ids::Key;
//! use picklock_sim::lock::{Grant, Lock, LockError};
//! use redis::{Script, cmd};
//!
//! struct Mine {
//!     host: Host,
//!     redis: Connection,
//!     ttl: Duration,
//! }
//!
//! impl Mine {
//!     async fn connect(context: Context) -> Result<Mine, LockError> {
//!         Ok(Mine { redis: Connection::to(&context, 0)?, host: context.host, ttl: context.ttl })
//!     }
//! }
//!
//! impl Lock for Mine {
//!     async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
//!         let owner = self.host.rng().owner_id();
//!         let mut set = cmd("SET");
//!         set.arg(key.as_str()).arg(&owner).arg("NX").arg("PX").arg(self.ttl.as_millis() as u64);
//!         let granted: bool = set.query_async(&mut self.redis.clone()).await?;
//!         Ok(granted.then(|| Grant::new(key, owner)))
//!     }
//!
//!     async fn release(&self, grant: Grant) -> Result<(), LockError> {
//!         let script = Script::new(
//!             "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
//!         );
//!         let mut call = script.key(grant.key.as_str());
//!         call.arg(&grant.owner).invoke_async::<()>(&mut self.redis.clone()).await?;
//!         Ok(())
//!     }
//! }
//!
//! let design = on_redis("mine", 1, Mine::connect);
//! assert_eq!(design.topology.stores, 1);
//! ```

pub mod bugs;
mod catalogue;
pub mod client;
mod consul;
mod control;
mod etcd;
mod kubernetes;
pub mod libraries;
mod lockless;
pub mod own;
pub mod postgres;
mod redis;
mod redlock;
mod zookeeper;

use picklock_sim::design::{Design, Family, SpellingError, spell};

pub use client::connection::Connection;
pub use own::{on_redis, on_redis_with};

/// The families of all designs that come with picklock: the controls first, then from the simplest to the most careful.
#[must_use]
pub fn families() -> &'static [&'static Family] {
    catalogue::ALL
}

/// The families of rebuilt bugs: locks of real libraries that had a bug, spelled like designs, and not among them.
#[must_use]
pub fn bugs() -> &'static [&'static Family] {
    bugs::ALL
}

/// The design that a text spells, of those that come with picklock and of the bugs.
///
/// # Errors
/// When the text is malformed or names an unknown design, parameter or value.
pub fn design(text: &str) -> Result<Design, SpellingError> {
    spell(&[families(), bugs()].concat(), text)
}
