//! A read-write lock on one store: readers hold together, a writer holds alone. The store keeps the mode and who holds.
//!
//! *Claim:* readers exclude writers and writers exclude everybody; a crashed holder blocks the others for no longer than a lease.
//! *Weakness:* all that is said of `single`, for either mode; and each new reader lengthens the lease of all, so writers may wait for
//! as long as readers keep coming.
//! *Source:* Redisson's `RReadWriteLock` by its behaviour (`RedissonReadLock`, `RedissonWriteLock`).
//!
//! Left out on purpose: holding more than once, a writer that reads too, the timeouts that newer versions keep for each reader, and
//! waiting on a channel.

use std::future::Future;
use std::time::Duration;

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Exclusion, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::RedisResult;

use super::common::{OneStore, millis, on_stores_waiting, store_of};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, Policy, RETRY, STORE, TIMEOUT};

/// The family of read-write locks.
pub(crate) static FAMILY: Family = Family {
    name: "read-write",
    claim: "a read-write lock: readers hold together, a writer alone",
    weakness: "a lease that ends while its holder works lets others in, whatever the mode",
    source: "Redisson, RReadWriteLock",
    params: params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, STORE],
    build,
};

fn build(args: &Args) -> Design {
    on_stores_waiting(args, store_of(args), |context, policy| async move {
        ReadWrite::connect(&context, policy).await
    })
    .excluding(Exclusion::Modes)
}

struct ReadWrite {
    store: OneStore,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

impl ReadWrite {
    async fn connect(context: &Context, policy: Policy) -> Result<ReadWrite, LockError> {
        Ok(ReadWrite { store: OneStore::connect(context, policy).await? })
    }

    /// Enters if nobody is there, or to read if only readers are.
    async fn enter(&self, key: &Key, mode: Mode, owner: &str) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "local mode = redis.call('hget', KEYS[1], 'mode')
                 if mode and (mode == 'write' or ARGV[1] == 'write') then
                   return 0
                 end
                 redis.call('hset', KEYS[1], 'mode', ARGV[1], ARGV[2], 1)
                 local left = math.max(redis.call('pttl', KEYS[1]), tonumber(ARGV[3]))
                 redis.call('pexpire', KEYS[1], left)
                 return 1",
        );
        let mut call = SCRIPT.key(key.as_str());
        call.arg(if mode == Mode::Read { "read" } else { "write" }).arg(owner).arg(millis(self.store.ttl));
        call.invoke_async(&mut self.store.redis.clone()).await
    }

    /// Leaves; the last one out takes the lock away. False if the owner was not there.
    async fn leave(&self, key: &Key, owner: &str) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "if redis.call('hdel', KEYS[1], ARGV[1]) == 0 then
                   return 0
                 end
                 if redis.call('hlen', KEYS[1]) == 1 then
                   redis.call('del', KEYS[1])
                 end
                 return 1",
        );
        let mut call = SCRIPT.key(key.as_str());
        call.arg(owner);
        call.invoke_async(&mut self.store.redis.clone()).await
    }

    async fn try_enter(&self, key: &Key, mode: Mode) -> Result<Option<Grant>, LockError> {
        let owner = self.store.host.rng().owner_id();
        let began = self.store.begin();
        match self.enter(key, mode, &owner).await {
            Ok(false) => Ok(None),
            Ok(true) => {
                let grant = self.store.grant(key, owner, began);
                Ok(Some(if mode == Mode::Read { grant.shared() } else { grant }))
            }
            Err(error) => {
                // Perhaps it was let in. If it cannot leave either, the lease ends it.
                let _ = self.leave(key, &owner).await;
                Err(error.into())
            }
        }
    }

    async fn wait(
        &self,
        host: &Host,
        key: &Key,
        wait: Duration,
        mode: Mode,
    ) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        loop {
            host.begin_attempt();
            let outcome = self.try_enter(key, mode).await;
            if let Ok(Some(grant)) = outcome {
                return Ok(Some(grant));
            }
            let pause = self.store.policy.retry;
            let pause = host.rng().span(pause.min, pause.max);
            if host.monotonic() + pause >= give_up {
                return outcome;
            }
            host.sleep(pause).await;
        }
    }
}

impl Lock for ReadWrite {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.try_enter(key, Mode::Write).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        self.wait(host, key, wait, Mode::Write).await
    }

    fn acquire_shared(
        &self,
        host: &Host,
        key: &Key,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send {
        self.wait(host, key, wait, Mode::Read)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let held = self.leave(&grant.key, &grant.owner).await?;
        if held { Ok(()) } else { Err(LockError::new("the lease was lost before the release")) }
    }
}
