//! One store, a value that nobody else uses, and a release that deletes only what it wrote.
//!
//! *Claim:* at most one holder per lease, a crashed one blocks the others for no longer than its lease, and nobody
//! releases another's lock.
//! *Weakness:* a lease that ends while its holder works (a pause, long work, a store whose clock jumps or that forgets)
//! makes a second holder, and the first goes on writing.
//! *Source:* "Correct Implementation with a Single Instance" in "Distributed Locks with
//! Redis", redis.io.
//!
//! With `compare=delex` or `delifeq` its release and its renewal are single commands of Redis 8.4 or Valkey 9.0, which compare the value
//! themselves, in place of scripts.

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Family};
use picklock_sim::lock::{Grant, Lock, LockError};

use super::common::{Link, OneStore, on_stores_renewed, set_if_absent, store_of};
use crate::client::connection::Connection;
use crate::client::policy::{Policy, RENEWABLE};
use crate::client::renewal::Renew;

/// The family of designs with a unique value and compare-and-delete.
pub(crate) static FAMILY: Family = Family {
    name: "single",
    claim: "SET NX PX with a unique value, compare-and-delete: one holder per lease, nobody releases another's lock",
    weakness: "a lease that ends while its holder works makes a second holder",
    source: "Distributed Locks with Redis (redis.io), the single instance",
    params: RENEWABLE,
    build: |args| {
        on_stores_renewed(args, store_of(args), |context, policy| async move {
            Single::connect(&context, policy).await
        })
    },
};

/// A client of the design; others are built upon it.
pub(crate) struct Single<L = Connection> {
    pub(crate) store: OneStore<L>,
}

impl Single {
    pub(crate) async fn connect(context: &Context, policy: Policy) -> Result<Single, LockError> {
        Ok(Single { store: OneStore::connect(context, policy).await? })
    }
}

impl<L: Link> Lock for Single<L> {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        // A fresh value for every try: a request that arrives late can then never pass for a newer one.
        let owner = self.store.host.rng().owner_id();
        let began = self.store.begin();
        match set_if_absent(&self.store.redis, key, &owner, self.store.ttl).await {
            Ok(true) => Ok(Some(self.store.grant(key, owner, began))),
            Ok(false) => Ok(None),
            Err(error) => {
                self.store.take_back(key, &owner, &error).await;
                Err(error.into())
            }
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.store.give_back(&grant).await
    }
}

impl<L: Link> Renew for Single<L> {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        Ok(self.store.extend_own(key, owner).await?)
    }
}
