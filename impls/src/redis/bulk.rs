//! Many locks in one grant: a process that holds a hundred keys takes, renews and releases them with one script each.
//!
//! The grant's own key is the first; the others are named after it. All are taken or none. What it is for is its cost: one
//! timer and one request keep a hundred leases.
//!
//! Left out on purpose: releasing or losing some of them. The grant is lost with its own key.

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::Context;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Count, Param};
use redis::{RedisResult, Script};

use super::common::{OneStore, millis};
use crate::client::policy::Policy;
use crate::client::renewal::Renew;

/// How many locks a grant stands for.
pub(crate) const LOCKS: Param<Count> = Param {
    name: "locks",
    domain: Count(1, 1_000),
    default: "1",
    doc: "how many locks a grant stands for: taken, renewed and released together, with one script each",
};

/// A client that holds so many locks at once.
pub(crate) struct Bulk {
    pub(crate) store: OneStore,
    locks: u64,
}

impl Bulk {
    pub(crate) async fn connect(context: &Context, policy: Policy, locks: u64) -> Result<Bulk, LockError> {
        Ok(Bulk { store: OneStore::connect(context, policy).await?, locks })
    }

    /// The keys of a grant, its own first.
    pub(crate) fn keys(&self, key: &Key) -> impl Iterator<Item = String> {
        let others = (2..=self.locks).map(move |nth| format!("{key}:{nth}"));
        std::iter::once(key.to_string()).chain(others)
    }

    /// Deletes those of a grant's keys that have this value: false if its own has not.
    pub(crate) async fn give_back(&self, key: &Key, owner: &str) -> RedisResult<bool> {
        static GIVE_BACK: Lua = Lua::new(
            "local own = redis.call('get', KEYS[1]) == ARGV[1]
                 for _, key in ipairs(KEYS) do
                   if redis.call('get', key) == ARGV[1] then
                     redis.call('del', key)
                   end
                 end
                 return own",
        );
        self.run(&GIVE_BACK, key, owner).await
    }

    /// Runs a script on the grant's keys, with the owner and the lease as its arguments.
    async fn run(&self, script: &Script, key: &Key, owner: &str) -> RedisResult<bool> {
        let mut call = script.prepare_invoke();
        for name in self.keys(key) {
            call.key(name);
        }
        call.arg(owner).arg(millis(self.store.ttl)).invoke_async(&mut self.store.redis.clone()).await
    }
}

impl Lock for Bulk {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        static TAKE: Lua = Lua::new(
            "if redis.call('exists', unpack(KEYS)) > 0 then
                   return 0
                 end
                 for _, key in ipairs(KEYS) do
                   redis.call('set', key, ARGV[1], 'PX', ARGV[2])
                 end
                 return 1",
        );
        let owner = self.store.host.rng().owner_id();
        let began = self.store.begin();
        let granted = self.run(&TAKE, key, &owner).await?;
        Ok(granted.then(|| self.store.grant(key, owner, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if self.give_back(&grant.key, &grant.owner).await? {
            Ok(())
        } else {
            Err(LockError::new("the lease was lost before the release"))
        }
    }
}

impl Renew for Bulk {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        static EXTEND: Lua = Lua::new(
            "local own = redis.call('get', KEYS[1]) == ARGV[1]
                 for _, key in ipairs(KEYS) do
                   if redis.call('get', key) == ARGV[1] then
                     redis.call('pexpire', key, ARGV[2])
                   end
                 end
                 return own",
        );
        Ok(self.run(&EXTEND, key, owner).await?)
    }
}
