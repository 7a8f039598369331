//! The client that counts: a hash from owner to count, changed by scripts that follow those of Redisson's `RLock` in their
//! behaviour, and the simpler pair of tutorials. Claim, weakness and source stand with
//! [`reentrant`](super::reentrant); other designs use the same scripts.

use std::time::Duration;

use picklock_model::ids::{Key, Token};
use picklock_sim::design::Context;
use picklock_sim::lock::{Grant, Lock, LockError};
use redis::{RedisResult, cmd};

use super::common::{Began, OneStore, counter_key, millis};
use super::synced::Synced;
use crate::client::connection::Connection;
use crate::client::policy::Policy;
use crate::client::renewal::Renew;
use crate::client::script::Lua;

/// A client of the `reentrant` design.
pub(crate) struct Reentrant {
    pub(crate) store: OneStore,
    client: String,
    per_task: bool,
    simple: bool,
    /// True if each acquire takes a token from a counter.
    fenced: bool,
    /// What waits for replicas, if it does.
    synced: Option<Synced>,
}

/// The answer of the store to an acquire.
pub(crate) enum Answer {
    Granted(Grant),
    /// Another owner has it, for so long if it is not renewed; `None` if it has no lease.
    Held(Option<Duration>),
}

impl Reentrant {
    pub(crate) async fn connect(
        context: &Context,
        policy: Policy,
        simple: bool,
    ) -> Result<Reentrant, LockError> {
        let store = OneStore::connect(context, policy).await?;
        let client = context.host.rng().owner_id();
        Ok(Reentrant { store, client, per_task: false, simple, fenced: false, synced: None })
    }

    /// The same, each task of the client an owner of its own.
    pub(crate) fn by_task(self) -> Reentrant {
        Reentrant { per_task: true, ..self }
    }

    /// The same, with a token for each acquire: Redisson's `RFencedLock`.
    pub(crate) fn fenced(self) -> Reentrant {
        Reentrant { fenced: true, ..self }
    }

    /// The same, which waits for replicas: `checkLockSyncedSlaves`.
    pub(crate) fn synced(self) -> Reentrant {
        let timeout = self.store.ttl / 4;
        Reentrant { synced: Some(Synced::within(timeout)), ..self }
    }

    /// The owner that asks: the client and, as Redisson has it, its thread.
    fn owner(&self) -> String {
        let task = if self.per_task { self.store.host.task() } else { 0 };
        format!("{}:{}", self.client, task + 1)
    }

    /// Asks once, with Redisson's script.
    pub(crate) async fn ask(&self, key: &Key) -> Result<Answer, LockError> {
        let (store, owner) = (&self.store, self.owner());
        let began = store.begin();
        if self.fenced || self.synced.is_some() {
            return self.ask_and_wait(key, owner, began).await;
        }
        let time_left = enter_or_time_left(&store.redis, key, &owner, store.ttl).await?;
        Ok(match time_left {
            None => Answer::Granted(store.grant(key, owner, began)),
            Some(ms) => Answer::held(ms),
        })
    }

    /// As [`ask`](Reentrant::ask), with a token or a wait for replicas. What no replica has is given back; of a lock with tokens it is not,
    /// as Redisson does that for its other locks alone.
    async fn ask_and_wait(&self, key: &Key, owner: String, began: Began) -> Result<Answer, LockError> {
        let store = &self.store;
        let mut request = cmd("EVAL");
        match self.fenced {
            true => request.arg(ENTER_FENCED).arg(2).arg(key.as_str()).arg(counter_key(key)),
            false => request.arg(ENTER_AS_FENCED).arg(1).arg(key.as_str()),
        };
        request.arg(&owner).arg(millis(store.ttl));
        let ((left, token), is_synced): ((i64, u64), bool) = match &self.synced {
            Some(synced) => synced.ask(&store.redis, request).await?,
            None => (request.query_async(&mut store.redis.clone()).await?, true),
        };
        if !(-1..0).contains(&left) {
            return Ok(Answer::held(left));
        }
        if !is_synced {
            if !self.fenced {
                leave(&store.redis, key, &owner, store.ttl).await?;
            }
            return Err(LockError::new("none of the replicas acknowledged"));
        }
        let grant = store.grant(key, owner, began);
        Ok(Answer::Granted(if self.fenced { grant.with_token(Token(token)) } else { grant }))
    }
}

impl Answer {
    /// Another owner has it, for so many milliseconds; below zero if it has no lease.
    fn held(left: i64) -> Answer {
        Answer::Held(u64::try_from(left).ok().map(Duration::from_millis))
    }
}

/// The script of `RFencedLock`: -1 and the token, or the milliseconds that are left of another owner's lease; -2 if it has none.
const ENTER_FENCED: &str =
    "if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
               local token = redis.call('incr', KEYS[2])
               redis.call('hincrby', KEYS[1], ARGV[1], 1)
               redis.call('pexpire', KEYS[1], ARGV[2])
               return {-1, token}
             end
             local left = redis.call('pttl', KEYS[1])
             return {left < 0 and -2 or left, 0}";

/// The same without a token.
const ENTER_AS_FENCED: &str =
    "if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
               redis.call('hincrby', KEYS[1], ARGV[1], 1)
               redis.call('pexpire', KEYS[1], ARGV[2])
               return {-1, 0}
             end
             local left = redis.call('pttl', KEYS[1])
             return {left < 0 and -2 or left, 0}";

impl Lock for Reentrant {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        if !self.simple {
            return Ok(match self.ask(key).await? {
                Answer::Granted(grant) => Some(grant),
                Answer::Held(_) => None,
            });
        }
        let (began, owner) = (self.store.begin(), self.owner());
        let granted = enter_simply(&self.store.redis, key, &owner, self.store.ttl).await?;
        Ok(granted.then(|| self.store.grant(key, owner, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let redis = &self.store.redis;
        let left = if self.simple {
            leave_simply(redis, &grant.key, &grant.owner).await?
        } else {
            leave(redis, &grant.key, &grant.owner, self.store.ttl).await?
        };
        left.map(drop).ok_or_else(|| LockError::new("the lease was lost before the release"))
    }
}

impl Renew for Reentrant {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        Ok(extend_if_inside(&self.store.redis, key, owner, self.store.ttl).await?)
    }
}

/// The name by which a client's only thread is known: of the client, drawn once, and of the thread.
pub(crate) fn owner(context: &Context) -> String {
    format!("{}:1", context.host.rng().owner_id())
}

/// Sets the lease of a key, whoever has it: what Redisson's `RExpirable.expireAsync` does.
pub(crate) async fn expire(redis: &Connection, key: &Key, ttl: Duration) -> RedisResult<()> {
    cmd("PEXPIRE").arg(key.as_str()).arg(millis(ttl)).query_async(&mut redis.clone()).await
}

/// Adds one to the owner's count unless another owner has the lock: true if it was added.
pub(crate) async fn enter(redis: &Connection, key: &Key, owner: &str, ttl: Duration) -> RedisResult<bool> {
    Ok(enter_or_time_left(redis, key, owner, ttl).await?.is_none())
}

/// As [`enter`]: nothing if it was added, and otherwise how many milliseconds of the other owner's lease are left; below
/// zero if it has none.
async fn enter_or_time_left(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
) -> RedisResult<Option<i64>> {
    enter_for(redis, key, owner, i64::try_from(millis(ttl)).unwrap_or(i64::MAX)).await
}

/// As [`enter_or_time_left`], with a lease in milliseconds as it is sent.
pub(crate) async fn enter_for(
    redis: &Connection,
    key: &Key,
    owner: &str,
    lease: i64,
) -> RedisResult<Option<i64>> {
    static SCRIPT: Lua = Lua::new(
        "local mine = redis.call('hexists', KEYS[1], ARGV[1]) == 1
             if not mine and redis.call('exists', KEYS[1]) == 1 then
               return redis.call('pttl', KEYS[1])
             end
             redis.call('hincrby', KEYS[1], ARGV[1], 1)
             redis.call('pexpire', KEYS[1], ARGV[2])
             return false",
    );
    SCRIPT.key(key.as_str()).arg(owner).arg(lease).invoke_async(&mut redis.clone()).await
}

/// The channel on which releases of a key are announced.
pub(crate) fn channel(key: &Key) -> String {
    format!("{{{key}}}:released")
}

/// Takes one off the owner's count, and notifies the channel if nothing is left of it: what is left, or nothing if the owner
/// does not have the lock.
pub(crate) async fn leave(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
) -> RedisResult<Option<i64>> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
               return false
             end
             local count = redis.call('hincrby', KEYS[1], ARGV[1], -1)
             if count > 0 then
               redis.call('pexpire', KEYS[1], ARGV[2])
               return count
             end
             redis.call('del', KEYS[1])
             redis.call('publish', KEYS[2], 'released')
             return 0",
    );
    let mut call = SCRIPT.key(key.as_str());
    call.key(channel(key)).arg(owner).arg(millis(ttl));
    call.invoke_async(&mut redis.clone()).await
}

/// Sets the lease anew if the owner has the lock: false if it does not.
pub(crate) async fn extend_if_inside(
    redis: &Connection,
    key: &Key,
    owner: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
               return redis.call('pexpire', KEYS[1], ARGV[2])
             end
             return 0",
    );
    SCRIPT.key(key.as_str()).arg(owner).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}

async fn enter_simply(redis: &Connection, key: &Key, owner: &str, ttl: Duration) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
               return 0
             end
             redis.call('hincrby', KEYS[1], ARGV[1], 1)
             redis.call('pexpire', KEYS[1], ARGV[2])
             return 1",
    );
    SCRIPT.key(key.as_str()).arg(owner).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}

async fn leave_simply(redis: &Connection, key: &Key, owner: &str) -> RedisResult<Option<i64>> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
               return false
             end
             local count = redis.call('hincrby', KEYS[1], ARGV[1], -1)
             if count == 0 then
               redis.call('del', KEYS[1])
             end
             return count",
    );
    SCRIPT.key(key.as_str()).arg(owner).invoke_async(&mut redis.clone()).await
}
