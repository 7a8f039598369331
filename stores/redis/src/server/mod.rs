//! The simulated servers: nodes with their replicas, and the Sentinels that watch them.
//!
//! The floors on which the modules stand are listed in the root of the crate.

pub mod node;
pub mod sentinel;
pub mod store;
pub mod version;

pub(crate) mod aof;
mod catalogue;
pub(crate) mod cluster;
mod commands;
mod execution;
pub(crate) mod following;
mod glob;
mod journal;
mod lua;
pub(crate) mod rdb;
mod replication;
mod serve;
mod setup;
mod shebang;
pub(crate) mod snapshot;
pub(crate) mod stream;

use picklock_sim::design::ServerContext;

pub(crate) use serve::{ACTIONS, CLUSTER_ACTIONS};
pub use setup::Own;
use setup::{ServerRole, Setup};
use version::Version;

/// Runs the server that this context is for until its host stops.
pub async fn serve(context: ServerContext) {
    serve_as(context, Version::default()).await;
}

/// The same with nodes of another version of Redis.
pub async fn serve_as(context: ServerContext, version: Version) {
    serve_own(context, Own { version, ..Own::default() }).await;
}

/// Runs the node of a cluster that this context is for, with what servers have of their own that real clients talk to.
pub async fn serve_in_cluster(context: ServerContext, own: Own) {
    serve::serve(Setup::in_cluster(context, own)).await;
}

/// The same with what servers have of their own that real clients talk to.
pub async fn serve_own(context: ServerContext, own: Own) {
    let setup = Setup::of(context, own);
    match &setup.role {
        ServerRole::Store | ServerRole::Replica { .. } => serve::serve(setup).await,
        ServerRole::Sentinel { .. } => sentinel::serve(setup).await,
    }
}
