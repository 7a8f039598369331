//! The way in for a lock that is not in this workspace: a client's connect function becomes a [`Design`] on Redis.
//!
//! Left out on purpose: replicated stores and fencing, which are fields of the design that comes back
//! ([`Design::topology`], [`Design::fenced`]), as are its belief and the number of leases it needs to recover.

use std::future::Future;

use picklock_sim::design::{Design, Seat, Topology};
use picklock_sim::lock::{Client, Lock, LockError};

use picklock_redis::Redis;

/// A design on `nodes` independent simulated Redis stores, whose clients are made by `connect`.
///
/// Its holders believe naively, from the return of acquire until they release; say otherwise with
/// [`Design::believing`]. See the [crate's documentation](crate) for a lock that is tested so.
pub fn on_redis<L, F, Fut>(name: &str, nodes: u32, connect: F) -> Design
where
    L: Lock,
    F: Fn(Seat) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    let client = move |seat| {
        let connecting = connect(seat);
        async move { Ok(Client::lock(connecting.await?)) }
    };
    Design::new(name, client).on_stores(Topology::independent(nodes), Redis::default())
}
