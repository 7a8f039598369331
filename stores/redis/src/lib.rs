//! A simulated Redis: one node and its replicas, and the Sentinels that watch them.
//!
//! What is modelled, after Redis 7.0.15: the commands that lock libraries send, expiry on the node's own wall clock,
//! Lua scripts, asynchronous replication, and two kinds of persistence. A node is believed when the same commands give
//! the same replies, the same replication stream and the same timing as the real one. It speaks Redis's protocol over a
//! simulated host's streams and knows nothing of locks.
//!
//! [`node::Node`] executes commands and touches nothing else, so it can be tested without a world; [`serve()`] puts the
//! server that a context asks for on its host.
//!
//! The modules stand on floors. One may name those of the floors below it, and none of its own floor or above, so that
//! each can be read, and tried, without what stands upon it:
//!
//! | floor | modules | what |
//! | --- | --- | --- |
//! | 12 | `kind` | Redis as a kind of store |
//! | 11 | `real` | how a real Redis is started in its place |
//! | 10 | `serve`, [`sentinel`], [`hostile`] | what a host runs: sockets, tasks, a Sentinel; bytes that others wrote |
//! | 9 | `journal` | a node's files |
//! | 8 | `aof`, `following` | effects executed again, from a disk; and as a replica hears them |
//! | 7 | `execution` | the table of commands, what becomes of one, and those that execute others (EXEC, EVAL) |
//! | 6 | `commands`, `lua` | what each command does; the interpreter of scripts |
//! | 5 | `replication` | replicas are fed, roles change |
//! | 4 | `snapshot` | a node's dataset with its place in the stream |
//! | 3 | [`node`] | the state of a node |
//! | 2 | `stream`, `rdb` | the stream of effects and its history; the format of snapshots |
//! | 1 | [`store`], `catalogue`, `wire` | the dataset; what is known of each command; segments in words |
//! | 0 | [`resp`], `glob`, [`version`], `context` | the protocol, patterns, versions, what a server is started with |
//!
//! Where a lower floor has to reach a higher one, it is handed in what it needs: a session that waits for a key brings what
//! it takes from it, a command that is kept during a pause brings what executes it, and a script is given the commands
//! that it may call.
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
mod catalogue;
mod commands;
mod context;
mod execution;
mod following;
mod glob;
mod journal;
mod lua;
mod mailbox;
mod rdb;
mod real;
mod replication;
mod serve;
mod snapshot;
mod spec;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

pub use node::PORT;
pub use spec::{KIND, PARAMS, Redis};

pub use context::Own;
use context::ServerRole;
use picklock_sim::design::ServerContext;
use version::Version;

/// Runs the server that this context is for until its host stops.
pub async fn serve(context: ServerContext) {
    serve_as(context, Version::default()).await;
}

/// The same with nodes of another version of Redis.
pub async fn serve_as(context: ServerContext, version: Version) {
    serve_own(context, Own { version, ..Own::default() }).await;
}

/// The same with what servers have of their own that real clients talk to.
pub async fn serve_own(context: ServerContext, own: Own) {
    let context = context::ServerContext::of(context, own);
    match &context.role {
        ServerRole::Store | ServerRole::Replica { .. } => serve::serve(context).await,
        ServerRole::Sentinel { .. } => sentinel::serve(context).await,
    }
}
