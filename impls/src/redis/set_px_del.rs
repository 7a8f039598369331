//! `SET key locked NX PX ttl` with the same value for everybody, plain `DEL` to release. Or `SETNX` and `EXPIRE` in one
//! script, which Redis executes as one command too.
//!
//! *Claim:* at most one holder, and a crashed one blocks the others for no longer than its lease.
//! *Weakness:* a holder that is late, because it was paused or its work took longer than the lease, deletes the lock of
//! whoever came after it, and a third client joins the second. As with every lease, the late holder goes on
//! writing beside its successor.
//! *Source:* the pattern that the Redis documentation of `SET` and of `SETNX` shows first, and
//! warns of.

use crate::client::script::Lua;
use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;
use redis::RedisResult;

use super::common::{OneStore, VALUE, delete, millis, on_stores, set_if_absent, store_of};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, RETRY, STORE, TIMEOUT};

/// The family of designs with a shared value and an unchecked delete.
pub(crate) static FAMILY: Family = Family {
    name: "set-px-del",
    claim: "SET NX PX with a shared value, plain DEL: one holder, and a crash blocks for one lease at most",
    weakness: "a late holder deletes the lock of the next one",
    source: "Redis documentation, SET and SETNX",
    params: params![FORM, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, STORE],
    build,
};

const FORM: Param<Word> = Param {
    name: "form",
    domain: Word(&["set", "script"]),
    default: "set",
    doc: "SET NX PX, or SETNX and PEXPIRE in one script",
};

fn build(args: &Args) -> Design {
    let script = args.get(FORM) == "script";
    on_stores(args, store_of(args), move |context, policy| async move {
        Ok(SetPxDel { store: OneStore::connect(&context, policy).await?, script })
    })
}

struct SetPxDel {
    store: OneStore,
    script: bool,
}

impl SetPxDel {
    async fn take(&self, key: &Key) -> RedisResult<bool> {
        static SCRIPT: Lua = Lua::new(
            "if redis.call('setnx', KEYS[1], ARGV[1]) == 0 then
                   return 0
                 end
                 return redis.call('pexpire', KEYS[1], ARGV[2])",
        );
        if !self.script {
            return set_if_absent(&self.store.redis, key, VALUE, self.store.ttl).await;
        }
        let mut call = SCRIPT.key(key.as_str());
        call.arg(VALUE).arg(millis(self.store.ttl));
        call.invoke_async(&mut self.store.redis.clone()).await
    }
}

impl Lock for SetPxDel {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let began = self.store.begin();
        // An error whose outcome is unknown is left to the lease: a DEL could hit somebody else's lock.
        let granted = self.take(key).await?;
        Ok(granted.then(|| self.store.grant(key, VALUE, began)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        Ok(delete(&self.store.redis, &grant.key).await?)
    }
}
