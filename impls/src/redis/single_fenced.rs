//! The `single` design with a fencing token: a counter, incremented in the script that takes the lock, whose value
//! every operation on the resource carries. The resource refuses a token lower than the highest it has seen.
//!
//! *Claim:* a holder that lost its lease without knowing does no harm: its operations are refused once the next
//! holder's first has arrived.
//! *Weakness:* the token is as durable as the store. After a restart without persistence or a failover the counter
//! starts again, and the resource refuses the rightful holders. Two clients may still believe at once.
//! *Source:* Martin Kleppmann, "How to do distributed locking", 2016.

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::params;

use super::common::{OneStore, extend_if_owner, on_stores_renewed, set_and_count, set_then_count, store_of};
use crate::client::policy::{
    BELIEF, CLOCK, DRIFT, FAILURE, FENCE, RENEWAL, RETRY, STORE, TIMEOUT, TOKEN, TokenTaken,
};
use crate::client::renewal::Renew;

/// The family of designs with a token from the same script.
pub(crate) static FAMILY: Family = Family {
    name: "single-fenced",
    claim: "single, with a fencing token from a counter in the same script: a late holder does no harm",
    weakness: "the token's order is lost with the store's memory",
    source: "Kleppmann, How to do distributed locking, 2016",
    params: params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL, TOKEN, FENCE, STORE],
    build: |args| {
        let design = on_stores_renewed(args, store_of(args), |context, policy| async move {
            Ok(SingleFenced { store: OneStore::connect(&context, policy).await? })
        });
        Design { fences_reads: args.get(FENCE) == "all", ..design.fenced() }
    },
};

struct SingleFenced {
    store: OneStore,
}

impl Lock for SingleFenced {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.store.host.rng().owner_id();
        let began = self.store.begin();
        let taken = match self.store.policy.token {
            TokenTaken::WithGrant => set_and_count(&self.store.redis, key, &owner, self.store.ttl).await,
            TokenTaken::Afterwards => set_then_count(&self.store.redis, key, &owner, self.store.ttl).await,
        };
        match taken {
            Ok(token) => Ok(token.map(|token| self.store.grant(key, owner, began).with_token(token))),
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

impl Renew for SingleFenced {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        Ok(extend_if_owner(&self.store.redis, key, owner, self.store.ttl).await?)
    }
}
