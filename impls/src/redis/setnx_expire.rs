//! `SETNX`, then `EXPIRE` as a second command: the lease comes after the lock. Or the same with `HSETNX` on a hash.
//!
//! *Claim:* at most one holder, and a crashed one blocks the others for no longer than its lease.
//! *Weakness:* a client that dies between the two commands, or whose second one gets lost, leaves a lock without a lease
//! that blocks everybody for good. Beside that it breaks as `set-px-del` does: a late holder deletes the lock of the
//! next one.
//! *Source:* the Redis documentation of `SETNX` before `SET` had options; redis-py until 2.10,
//! whose lock did the same with `PEXPIRE`.
//!
//! The lease is set with `PEXPIRE`, because those of the simulation are counted in milliseconds. By default nothing is
//! done about a failed second command, as in most code; `failure=release` deletes the key then.

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;
use redis::cmd;

use super::common::{OneStore, VALUE, delete, extend, on_stores, store_of};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE_LEAVE, Failure, RETRY, STORE, TIMEOUT};

/// The family of designs whose lease comes with a second command.
pub(crate) static FAMILY: Family = Family {
    name: "setnx-expire",
    claim: "SETNX, then EXPIRE, plain DEL: one holder, and a crash blocks for one lease at most",
    weakness: "a crash between the two commands blocks everybody for good",
    source: "Redis documentation, SETNX; redis-py 2.10",
    params: params![FORM, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE_LEAVE, STORE],
    build,
};

const FORM: Param<Word> = Param {
    name: "form",
    domain: Word(&["string", "hash"]),
    default: "string",
    doc: "SETNX on a string, or HSETNX on a hash",
};

fn build(args: &Args) -> Design {
    let hash = args.get(FORM) == "hash";
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(SetnxExpire { store: OneStore::connect(&context, policy).await?, hash })
    })
    // A client that stops between the two commands keeps the lock, without a lease.
    .surviving([])
}

struct SetnxExpire {
    store: OneStore,
    hash: bool,
}

impl Lock for SetnxExpire {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let began = self.store.begin();
        let mut take = if self.hash { cmd("HSETNX") } else { cmd("SETNX") };
        take.arg(key.as_str());
        if self.hash {
            take.arg("holder");
        }
        let granted: bool = take.arg(VALUE).query_async(&mut self.store.redis.clone()).await?;
        if !granted {
            return Ok(None);
        }
        if let Err(error) = extend(&self.store.redis, key, self.store.ttl).await {
            if self.store.policy.failure == Failure::Release {
                // If this fails as well, the lock stays; the caller gets the first error.
                let _ = delete(&self.store.redis, key).await;
            }
            return Err(error.into());
        }
        Ok(Some(self.store.grant(key, VALUE, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        Ok(delete(&self.store.redis, &grant.key).await?)
    }
}
