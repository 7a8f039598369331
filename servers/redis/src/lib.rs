//! A simulated Redis: one node and its replicas, and the Sentinels that watch them.
//!
//! What is modelled, after Redis 7.0.15: the commands that lock libraries send, expiry on the node's own wall clock,
//! Lua scripts, asynchronous replication, and two kinds of persistence. A node is believed when the same commands give
//! the same replies, the same replication stream and the same timing as the real one. It speaks Redis's protocol over a
//! simulated host's streams and knows nothing of locks.
//!
//! [`node::Node`] executes commands and touches nothing else, so it can be tested without a world; [`serve()`] puts the
//! server that a seat asks for on its host.
//!
//! Left out on purpose: streams, geometry, HyperLogLog, clusters, modules, users other than the default one, caches on
//! the client's side.

#[doc(hidden)]
pub mod hostile;
pub mod node;
pub mod resp;
pub mod sentinel;
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

pub(crate) use commands::wrong_arity;
pub(crate) use glob::fits;

use picklock_sim::design::{ServerRole, ServerSeat};
use version::Version;

/// The port of a node.
pub const PORT: u16 = 6379;

/// Runs the server that this seat is for until its host stops.
pub async fn serve(seat: ServerSeat) {
    serve_as(seat, Version::default()).await;
}

/// The same with nodes of another version of Redis.
pub async fn serve_as(seat: ServerSeat, version: Version) {
    match &seat.role {
        ServerRole::Store { .. } | ServerRole::Replica { .. } => serve::serve(seat, version).await,
        ServerRole::Sentinel { .. } => sentinel::serve(seat).await,
    }
}
