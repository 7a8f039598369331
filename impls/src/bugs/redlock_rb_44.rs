//! redlock-rb #44: an extension takes milliseconds for seconds.
//!
//! *Claim:* a lock that was extended ends one lease after that, even if its holder is gone.
//! *Mechanism:* the extension is an `EXPIRE`, which counts in seconds, with a lease that is given in milliseconds. A lock
//! that has been extended once lasts a thousand leases; if its holder dies, everybody else waits for them.
//! *Versions:* redlock-rb 0.1.8. Since then it is a `PEXPIRE`.
//! *Source:* <https://github.com/leandromoreira/redlock-rb/issues/44>
//!
//! A holder extends at its checkpoints, every third of the lease. Three stores.

use std::time::Duration;

use picklock_sim::design::Family;
use picklock_sim::lock::Grant;
use redis::RedisResult;

use super::at_checkpoints::{Extension, PARAMS, design};
use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::script::Lua;
use crate::redis::common::{extend_if_owner, millis};

/// The lock that is extended by a thousand leases.
pub(super) static FAMILY: Family = Family {
    name: "redlock-rb-44",
    claim: "redlock-rb's Redlock, extended by its holder with EXPIRE",
    weakness: "the lease is given in milliseconds and taken for seconds: a crash after an extension blocks for long",
    source: "redlock-rb 0.1.8, https://github.com/leandromoreira/redlock-rb/issues/44",
    params: PARAMS,
    build: |args| {
        let fixed = args.get(FIXED);
        design(args, move |_, _| Expire { fixed })
    },
};

struct Expire {
    fixed: bool,
}

impl Extension for Expire {
    async fn on(&self, node: &Connection, grant: &Grant, ttl: Duration) -> RedisResult<bool> {
        if self.fixed {
            extend_if_owner(node, &grant.key, &grant.owner, ttl).await
        } else {
            extend_by_seconds(node, grant, ttl).await
        }
    }
}

async fn extend_by_seconds(node: &Connection, grant: &Grant, ttl: Duration) -> RedisResult<bool> {
    static SCRIPT: Lua = Lua::new(
        "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('expire', KEYS[1], ARGV[2])
             end
             return 0",
    );
    let mut call = SCRIPT.key(grant.key.as_str());
    call.arg(grant.owner.as_str()).arg(millis(ttl));
    call.invoke_async(&mut node.clone()).await
}
