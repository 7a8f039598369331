//! The store kind Consul: keys with sessions, and the lock-delay after a session that was lost, on one simulated server.
//!
//! **Entry point:** [`KIND`], which [`Consul`] describes.
//!
//! # Where things are
//!
//! - `spec`: Consul as a store kind: its server, the shortest session, the time that a lost holder costs.
//! - `server`: the simulated server: `serve` puts it on a host, `services` answers requests, `leader` makes changes and ends sessions, `journal`
//!   keeps what was changed; `state` has keys, sessions and lock-delays, without a host.
//! - [`api`]: what is asked and answered, in JSON; [`duration`]: spans as Go writes them.
//!
//! # Rules
//!
//! - A session ends a multiple of its TTL after its last renewal: twice the TTL (`SessionTTLMultiplier`), by the server's monotonic clock.
//! - A session that ends, in time or because it was asked to, releases its locks or deletes their keys, and puts the lock-delay on each of them:
//!   for so long nobody can acquire it. A lock that is released by its holder has none.
//! - `LockIndex` counts the acquires of a key. A plain PUT keeps the session of a key, and sets its LockIndex to 0.
//! - A blocking query waits until the index of the key is past the one it brings, or for five minutes, or as long as it asks, at most ten, and up
//!   to a sixteenth more. One that finds no key and had found none goes on waiting.
//! - A server that is started anew executes its log again. All its sessions get their full time once more, and each lock-delay that it meets in the
//!   log begins anew.
//!
//! *Source:* `agent/consul/session_ttl.go`, `agent/consul/state/{session,kvs,delay_oss}.go`, `agent/{kvs,session}_endpoint.go` and
//! `agent/consul/kvs_endpoint.go` of Consul, as stored copies of them have it; no server was tried.
//!
//! # What is not here
//!
//! Other servers and agents: clients ask the one server, which leads at once, where a lone real one needs up to ten seconds with its usual
//! `raft_multiplier`. So the node of every session is the server's own, whose health check never fails, and only time or a request ends a session.
//! Snapshots: a real server that has made one forgets the lock-delays before it. ACLs, datacenters, transactions, listings of keys, semaphores.
//! Such a request is refused with 501, never guessed at.

pub mod api;
mod config;
pub mod duration;
mod server;
mod spec;
#[cfg(test)]
mod tests;

pub use config::Consul;
pub use spec::KIND;

/// Where clients ask.
pub const PORT: u16 = 8500;

/// The most that a lock-delay can be.
pub const LOCK_DELAY_MAX: std::time::Duration = std::time::Duration::from_secs(60);
