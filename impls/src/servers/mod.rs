//! The servers that designs stand on: each speaks its real protocol over a simulated host's streams and knows nothing
//! of locks.

pub mod queue;
pub mod redis;
pub mod sentinel;

use self::redis::version::Version;
use picklock_sim::design::{ServerRole, ServerSeat};

/// Runs the server that this seat is for until its host stops.
pub async fn serve(seat: ServerSeat) {
    serve_as(seat, Version::default()).await;
}

/// The same with nodes of another version of Redis.
pub async fn serve_as(seat: ServerSeat, version: Version) {
    match &seat.role {
        ServerRole::Store { .. } | ServerRole::Replica { .. } => redis::serve(seat, version).await,
        ServerRole::Sentinel { .. } => sentinel::serve(seat).await,
    }
}
