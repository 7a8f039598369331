//! The way in for a lock that is not in this workspace: a client's connect function becomes a [`Design`] on Redis.
//!
//! Left out on purpose: replicated stores and fencing, which are fields of the design that comes back
//! ([`Design::topology`], [`Design::fenced`]), as are its belief and the number of leases it needs to recover.

use std::future::Future;

use picklock_sim::design::{Condition, Context, Design, Topology};
use picklock_sim::lock::{Client, Lock, LockError};

use picklock_redis::Redis;

/// A design on `nodes` independent simulated Redis stores, whose clients are made by `connect`.
///
/// Its holders believe naively, from the return of acquire until they release; say otherwise with
/// [`Design::believing`]. On three nodes or more it claims to survive the loss of fewer than half of them, and nothing else; say
/// otherwise with [`Design::surviving`]. See the [crate's documentation](crate) for a lock that is tested so.
pub fn on_redis<L, F, Fut>(name: &str, nodes: u32, connect: F) -> Design
where
    L: Lock,
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    let client = move |context| {
        let connecting = connect(context);
        async move { Ok(Client::lock(connecting.await?)) }
    };
    let design = Design::new(name, client).on_stores(Topology::independent(nodes), Redis::default());
    // Several stores are there to survive the loss of a minority.
    if nodes > 2 { design.surviving([Condition::MinorityDown]) } else { design }
}

/// As [`on_redis`], for a lock with parameters: each client gets a clone of them.
///
/// Use it where a closure would capture them. A closure that makes a future of its own for every call cannot lend it what it has
/// captured, and the compiler says so at length.
///
/// ```
/// use picklock_impls::{Connection, on_redis_with};
/// use picklock_sim::design::Context;
/// use picklock_model::ids::Key;
/// use picklock_sim::lock::{Grant, Lock, LockError};
/// use redis::cmd;
///
/// #[derive(Clone)]
/// struct Options {
///     prefix: String,
/// }
///
/// struct Mine {
///     redis: Connection,
///     options: Options,
/// }
///
/// impl Mine {
///     async fn connect(context: Context, options: Options) -> Result<Mine, LockError> {
///         Ok(Mine { redis: Connection::to(&context, 0)?, options })
///     }
/// }
///
/// impl Lock for Mine {
///     async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
///         let name = format!("{}:{key}", self.options.prefix);
///         let granted: bool = cmd("SETNX").arg(name).arg(1).query_async(&mut self.redis.clone()).await?;
///         Ok(granted.then(|| Grant::new(key, "1")))
///     }
///
///     async fn release(&self, grant: Grant) -> Result<(), LockError> {
///         let name = format!("{}:{}", self.options.prefix, grant.key);
///         Ok(cmd("DEL").arg(name).query_async(&mut self.redis.clone()).await?)
///     }
/// }
///
/// let options = Options { prefix: "locks".to_owned() };
/// let design = on_redis_with("mine", 1, options, Mine::connect);
/// # assert_eq!(design.topology.stores, 1);
/// ```
pub fn on_redis_with<P, L, F, Fut>(name: &str, nodes: u32, params: P, connect: F) -> Design
where
    P: Clone + Send + Sync + 'static,
    L: Lock,
    F: Fn(Context, P) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    on_redis(name, nodes, move |context| connect(context, params.clone()))
}
