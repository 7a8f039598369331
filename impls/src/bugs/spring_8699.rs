//! Spring Integration GH-8699: a lock released by two commands, a look at the owner and an `UNLINK`.
//!
//! *Claim:* nobody releases another's lock.
//! *Mechanism:* `RedisLock.unlock` asks with a `GET` whether the lock is still held by this process, and then removes the
//! key. A lock that runs out and is granted to somebody else between the two is removed.
//! *Versions:* `RedisLockRegistry` of Spring Integration before 6.1.3 (and 6.0.8): since then one script does both.
//! *Source:* <https://github.com/spring-projects/spring-integration/issues/8699>
//!
//! The value is that of the registry, one for each process, and a process that has the lock is granted it again.

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use redis::{RedisResult, cmd};

use super::version::FIXED;
use crate::client::policy::STORE;
use crate::redis::common::{OneStore, millis, on_stores, store_of};

/// The lock that is looked at and then removed.
pub(super) static FAMILY: Family = Family {
    name: "spring-8699",
    claim: "Spring's RedisLockRegistry, released by GET, compare, UNLINK",
    weakness: "a lease that ends between the GET and the UNLINK makes it remove another's lock",
    source: "Spring Integration before 6.1.3, https://github.com/spring-projects/spring-integration/issues/8699",
    params: params![FIXED, STORE],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, store_of(args), move |context, policy| async move {
        let registry = context.host.rng().owner_id();
        Ok(Registry { store: OneStore::connect(&context, policy).await?, registry, fixed })
    })
}

struct Registry {
    store: OneStore,
    registry: String,
    fixed: bool,
}

impl Registry {
    async fn obtain(&self, key: &Key) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "local registry = redis.call('get', KEYS[1])
                 if registry == ARGV[1] then
                   redis.call('pexpire', KEYS[1], ARGV[2])
                   return true
                 end
                 if not registry then
                   redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
                   return true
                 end
                 return false",
        );
        let mut call = SCRIPT.key(key.as_str());
        let call = call.arg(&self.registry).arg(millis(self.store.ttl));
        let obtained: Option<bool> = call.invoke_async(&mut self.store.redis.clone()).await?;
        Ok(obtained.is_some())
    }

    async fn remove(&self, key: &Key) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then
                   redis.call('unlink', KEYS[1])
                   return true
                 end
                 return false",
        );
        let mut redis = self.store.redis.clone();
        if self.fixed {
            let removed: Option<bool> =
                SCRIPT.key(key.as_str()).arg(&self.registry).invoke_async(&mut redis).await?;
            return Ok(removed.is_some());
        }
        let value: Option<String> = cmd("GET").arg(key.as_str()).query_async(&mut redis).await?;
        if value.as_ref() != Some(&self.registry) {
            return Ok(false);
        }
        cmd("UNLINK").arg(key.as_str()).query_async::<()>(&mut redis).await?;
        Ok(true)
    }
}

impl Lock for Registry {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(self.obtain(key).await?.then(|| Grant::new(key, self.registry.as_str())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if self.remove(&grant.key).await? {
            Ok(())
        } else {
            Err(LockError::new("the lease was lost before the release"))
        }
    }
}
