//! A simulated Redis: one node and its replicas.
//!
//! What is modelled, after Redis 7.0.15: the commands that lock libraries send, expiry on the node's own wall clock,
//! Lua scripts, asynchronous replication, and two kinds of persistence. A node is believed when the same commands give
//! the same replies, the same replication stream and the same timing as the real one.
//!
//! [`node::Node`] executes commands and touches nothing else, so it can be tested without a world; [`serve()`] puts a node
//! on a host.
//!
//! Left out on purpose: streams, geometry, HyperLogLog, clusters, modules, users other than the default one, caches on
//! the client's side.

#[doc(hidden)]
pub mod hostile;
pub mod node;
pub mod resp;
pub mod store;
pub mod version;

mod aof;
mod commands;
mod glob;
mod journal;
mod lua;
mod rdb;
mod replication;
mod serve;
#[cfg(test)]
mod tests;

pub(in crate::servers) use commands::wrong_arity;
pub(in crate::servers) use glob::fits;
pub use serve::serve;

/// The port of a node.
pub const PORT: u16 = 6379;
