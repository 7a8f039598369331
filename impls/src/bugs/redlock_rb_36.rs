//! redlock-rb #36: an extension takes a lock that has run out once more.
//!
//! *Claim:* a holder that extends its lock learns whether it still has it.
//! *Mechanism:* to extend is to lock with the value that one has: the script sets the key if it holds this value or if
//! there is none. A holder that comes back after its lease has run out, and after somebody else had the lock and let it
//! go, gets the answer that all is well.
//! *Versions:* redlock-rb before `extend_only_if_life`, May 2016.
//! *Source:* <https://github.com/leandromoreira/redlock-rb/issues/36>
//!
//! A holder extends at its checkpoints, every third of the lease, and does not look at the validity: that is what the
//! extension is for. Three stores.

use std::time::Duration;

use picklock_sim::design::Family;
use picklock_sim::lock::Grant;
use redis::RedisResult;

use super::at_checkpoints::{Extension, PARAMS, design};
use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::script::Lua;
use crate::redis::common::{extend_if_owner, millis};

/// The lock that is extended by taking it.
pub(super) static FAMILY: Family = Family {
    name: "redlock-rb-36",
    claim: "redlock-rb's Redlock, extended by its holder by locking once more with the same value",
    weakness: "an extension also succeeds when the lock had run out and somebody else had it meanwhile",
    source: "redlock-rb before May 2016, https://github.com/leandromoreira/redlock-rb/issues/36",
    params: PARAMS,
    build: |args| {
        let fixed = args.get(FIXED);
        design(args, move |_, _| LockAgain { fixed })
    },
};

struct LockAgain {
    fixed: bool,
}

impl Extension for LockAgain {
    async fn on(&self, node: &Connection, grant: &Grant, ttl: Duration) -> RedisResult<bool> {
        if self.fixed {
            extend_if_owner(node, &grant.key, &grant.owner, ttl).await
        } else {
            set_if_absent_or_owner(node, grant, ttl).await
        }
    }
}

/// Sets the key if there is none or if it holds this value.
async fn set_if_absent_or_owner(node: &Connection, grant: &Grant, ttl: Duration) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('exists', KEYS[1]) == 0 or redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
             end
             return false",
    );
    let mut call = SCRIPT.key(grant.key.as_str());
    call.arg(grant.owner.as_str()).arg(millis(ttl));
    let set: Option<String> = call.invoke_async(&mut node.clone()).await?;
    Ok(set.is_some())
}
