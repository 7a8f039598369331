//! The common part of the designs: the client side of one store, and the few Redis commands that nearly every lock is made of.
//!
//! Left out on purpose: anything that makes one design different from another. What a client can do one way or the
//! other whatever the design is, its [policy](crate::client::policy), is carried out here and in
//! [`renewal`](crate::client::renewal), once for all designs.

use std::future::Future;
use std::time::Duration;

use picklock_model::ids::{Key, Token};
use picklock_sim::design::{Condition, Conditions, Context, Design, RenewedBy, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Grant, Lock, LockError, Retry};
use picklock_sim::param::Args;
use redis::aio::ConnectionLike;
use redis::{Cmd, RedisError, RedisResult, cmd};

use crate::client::connection::Connection;
use crate::client::policy::{Compare, Failure, Policy, Reading, Renewal, STORE};
use crate::client::renewal::{Renew, Renewed};
use crate::client::script::Lua;
use picklock_redis::Redis;
use picklock_redis::server::version::Version;

/// The value of locks whose clients all write the same.
pub(crate) const VALUE: &str = "locked";

/// What a client sends its commands over: a connection to one store, or to all nodes of a cluster.
pub(crate) trait Link: ConnectionLike + Clone + Send + Sync + 'static {}

impl<L: ConnectionLike + Clone + Send + Sync + 'static> Link for L {}

/// The client side of a design on one store: what they all need.
#[derive(Clone)]
pub(crate) struct OneStore<L = Connection> {
    /// The client's host.
    pub(crate) host: Host,
    /// The connection to the store. Its commands time out after half the lease time unless the policy says otherwise: a
    /// reply that comes later leaves little of the lease to work in, and half is left to clean up and to try again.
    pub(crate) redis: L,
    /// The lease time.
    pub(crate) ttl: Duration,
    /// The client's policy.
    pub(crate) policy: Policy,
}

/// When an acquire began, as far as the client's policy wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began(Option<Reading>);

impl OneStore {
    /// Connects to the context's only store.
    pub(crate) async fn connect(context: &Context, policy: Policy) -> Result<OneStore, LockError> {
        let redis = connection(context, policy).await?;
        Ok(OneStore::over(redis, context, policy))
    }
}

impl<L: Link> OneStore<L> {
    /// The client side over this connection.
    pub(crate) fn over(redis: L, context: &Context, policy: Policy) -> OneStore<L> {
        OneStore { host: context.host.clone(), redis, ttl: context.ttl, policy }
    }

    /// To be called before the first request of an acquire. Reads the clock only for an honest holder: others do not.
    pub(crate) fn begin(&self) -> Began {
        Began((self.policy.belief == Belief::Honest).then(|| self.policy.clock.read(&self.host)))
    }

    /// The grant for an acquire that was just answered with yes, with the deadline that the policy advertises.
    pub(crate) fn grant(&self, key: &Key, owner: impl Into<String>, began: Began) -> Grant {
        let mut grant = Grant::new(key, owner);
        self.advertise(&mut grant, began);
        grant
    }

    /// Advertises the deadline of a lease that was asked for or renewed by a request that was just answered with yes.
    pub(crate) fn advertise(&self, grant: &mut Grant, began: Began) {
        let deadline = match (self.policy.belief, began.0) {
            (Belief::Honest, Some(start)) => self.policy.lease_end(start, self.ttl),
            (Belief::Trusting, _) => self.policy.clock.read(&self.host).plus(self.ttl),
            _ => return,
        };
        grant.deadline = Some(deadline.deadline());
    }

    /// After a failed request to take the lock: if it is not known whether the store executed it, takes it back, once
    /// and as well as possible. Right only with an owner value that nobody else uses.
    /// A client whose policy is to leave failures alone does nothing.
    pub(crate) async fn take_back(&self, key: &Key, owner: &str, error: &RedisError) {
        if error.is_io_error() && self.policy.failure == Failure::Release {
            // If this fails as well, the lease runs out by itself; the caller gets the first error.
            let _ = self.delete_own(key, owner).await;
        }
    }

    /// Gives the grant back by compare-and-delete.
    ///
    /// # Errors
    /// When the request failed, or the store says that somebody else or nobody holds the lock.
    pub(crate) async fn give_back(&self, grant: &Grant) -> Result<(), LockError> {
        if self.delete_own(&grant.key, &grant.owner).await? {
            Ok(())
        } else {
            Err(LockError::new("the lease was lost before the release"))
        }
    }
}

impl<L: Link> OneStore<L> {
    /// Deletes the key if it holds this value, as the policy says: false if it does not.
    pub(crate) async fn delete_own(&self, key: &Key, owner: &str) -> RedisResult<bool> {
        let mut command = match self.policy.compare {
            Compare::Script => return compare_and_delete(&self.redis, key, owner).await,
            Compare::DelEx => cmd("DELEX").arg(key.as_str()).arg("IFEQ").clone(),
            Compare::DelIfEq => cmd("DELIFEQ").arg(key.as_str()).clone(),
        };
        command.arg(owner).query_async(&mut self.redis.clone()).await
    }

    /// Sets the key's lease to its full length from now if it holds this value, as the policy says: false if it does not.
    pub(crate) async fn extend_own(&self, key: &Key, owner: &str) -> RedisResult<bool> {
        if self.policy.compare == Compare::Script {
            return extend_if_owner(&self.redis, key, owner, self.ttl).await;
        }
        let mut set = Cmd::with_capacity(7, 128);
        set.arg("SET").arg(key.as_str()).arg(owner).arg("IFEQ").arg(owner).arg("PX").arg(millis(self.ttl));
        set.query_async(&mut self.redis.clone()).await
    }
}

/// The version of Redis that the policy of a client needs.
fn version_of(policy: Policy) -> Version {
    match policy.compare {
        Compare::Script => Version::default(),
        Compare::DelEx => Version::V8_4,
        Compare::DelIfEq => Version::Valkey9_0,
    }
}

/// The topology that the parameter `store` gives.
pub(crate) fn store_of(args: &Args) -> Topology {
    Topology { stores: 1, replicated: args.get(STORE) == "replicated" }
}

/// A design on Redis stores whose clients are made by `connect` with the policy of the arguments, and wait by polling.
pub(crate) fn on_stores<L, F, Fut>(args: &Args, topology: Topology, connect: F) -> Design
where
    L: Lock,
    F: Fn(Context, Policy) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    on_stores_waiting(args, topology, move |context, policy| {
        let connecting = connect(context, policy);
        async move { Ok(Polling { lock: connecting.await?, retry: policy.retry }) }
    })
}

/// As [`on_stores`], with a lock whose clients wait in their own way.
pub(crate) fn on_stores_waiting<L, F, Fut>(args: &Args, topology: Topology, connect: F) -> Design
where
    L: Lock,
    F: Fn(Context, Policy) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    let policy = Policy::of(args);
    let client = move |context| {
        let connecting = connect(context, policy);
        async move { Ok(Client::lock(connecting.await?)) }
    };
    // The family gives the design its name.
    let redis = Redis { version: version_of(policy), ..Redis::default() };
    let design = Design::new("", client).believing(policy.belief).on_stores(topology, redis);
    // A client that holds or waits may be lost, for a lease at most; and where a majority decides, so may the rest of the stores.
    let survives = Conditions::LEASE;
    Design {
        survives: if topology.stores > 2 { survives.and(Condition::MinorityDown) } else { survives },
        renewed_by: if policy.renewal == Renewal::Off { RenewedBy::Nobody } else { RenewedBy::Holder },
        ..design
    }
}

/// As [`on_stores`], with a lock whose grants are renewed in the background if the policy says so.
pub(crate) fn on_stores_renewed<L, F, Fut>(args: &Args, topology: Topology, connect: F) -> Design
where
    L: Renew,
    F: Fn(Context, Policy) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    on_stores(args, topology, move |context, policy| {
        let (host, ttl) = (context.host.clone(), context.ttl);
        let connecting = connect(context, policy);
        async move { Ok(Renewed::new(connecting.await?, host, ttl, policy.renewal)) }
    })
}

/// A lock whose clients ask again after a pause that the policy sets.
struct Polling<L> {
    lock: L,
    retry: Retry,
}

impl<L: Lock> Lock for Polling<L> {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.lock.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.lock.release(grant).await
    }

    fn retry(&self) -> Retry {
        self.retry
    }

    fn checkpoint(&self) -> Option<Duration> {
        self.lock.checkpoint()
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        self.lock.renew(grant).await
    }

    fn renews_in_background(&self) -> bool {
        self.lock.renews_in_background()
    }
}

/// A connection to the context's only store with the command timeout of the policy.
pub(crate) async fn connection(context: &Context, policy: Policy) -> Result<Connection, LockError> {
    let address = context.stores.first().ok_or_else(|| LockError::new("the design has no store"))?;
    let redis = Connection::new(&context.host, address.clone(), policy.timeout(context.ttl));
    connect_if_possible(&redis).await;
    Ok(redis)
}

/// Connects before the first acquire, as programs do when they start. A store that cannot be reached now may be
/// reached by then, so a failure is not an error yet.
pub(crate) async fn connect_if_possible(redis: &Connection) {
    let _ = redis.connect().await;
}

/// `SET key value NX PX ttl`: true if the key is set, false if it existed.
pub(crate) async fn set_if_absent(
    redis: &impl Link,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    // Clients that wait by polling send hardly anything else.
    let mut set = Cmd::with_capacity(6, 96);
    set.arg("SET").arg(key.as_str()).arg(value).arg("NX").arg("PX").arg(millis(ttl));
    set.query_async(&mut redis.clone()).await
}

/// As [`set_if_absent`], and on success increments the counter of the key in the same script; its new value is the
/// token. The counter has no lease.
pub(crate) async fn set_and_count(
    redis: &Connection,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<Option<Token>> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
               return redis.call('incr', KEYS[2])
             else
               return false
             end",
    );
    let counter: Option<u64> = SCRIPT
        .key(key.as_str())
        .key(counter_key(key))
        .arg(value)
        .arg(millis(ttl))
        .invoke_async(&mut redis.clone())
        .await?;
    Ok(counter.map(Token))
}

/// As [`set_if_absent`], and on success reads the token from the counter with a second command, as programs do that add
/// a token to a lock that has none. Between the two somebody else may be granted and read first.
pub(crate) async fn set_then_count(
    redis: &Connection,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<Option<Token>> {
    if !set_if_absent(redis, key, value, ttl).await? {
        return Ok(None);
    }
    let counter: u64 = cmd("INCR").arg(counter_key(key)).query_async(&mut redis.clone()).await?;
    Ok(Some(Token(counter)))
}

/// Sets the key's lease to `ttl` from now if it holds this value, in one script: false if it does not.
pub(crate) async fn extend_if_owner(
    redis: &impl Link,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('pexpire', KEYS[1], ARGV[2])
             else
               return 0
             end",
    );
    SCRIPT.key(key.as_str()).arg(value).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}

/// Sets the key's lease to `ttl` from now, whoever holds it: false if there is no such key.
pub(crate) async fn extend(redis: &Connection, key: &Key, ttl: Duration) -> RedisResult<bool> {
    cmd("PEXPIRE").arg(key.as_str()).arg(millis(ttl)).query_async(&mut redis.clone()).await
}

/// Deletes the key, whoever holds it.
pub(crate) async fn delete(redis: &Connection, key: &Key) -> RedisResult<()> {
    cmd("DEL").arg(key.as_str()).query_async(&mut redis.clone()).await
}

/// Deletes the key if it holds this value, in one script: false if it does not. The script of the Redis documentation
/// ("Distributed Locks with Redis").
pub(crate) async fn compare_and_delete(redis: &impl Link, key: &Key, value: &str) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('del', KEYS[1])
             else
               return 0
             end",
    );
    SCRIPT.key(key.as_str()).arg(value).invoke_async(&mut redis.clone()).await
}

/// The key of the counter from which the tokens of `key` come. The braces keep both in one slot of a Redis Cluster.
pub(crate) fn counter_key(key: &Key) -> String {
    format!("{{{key}}}:token")
}

/// A lease time as Redis takes it: whole milliseconds, at least one.
pub(crate) fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_less_than_a_millisecond_is_asked_for_as_one() {
        assert_eq!(millis(Duration::from_micros(300)), 1);
        assert_eq!(millis(Duration::from_micros(2_900)), 2);
    }

    #[test]
    fn the_counter_of_a_key_lies_in_the_slot_of_the_key() {
        assert_eq!(counter_key(&Key::new("stock")), "{stock}:token");
    }
}
