//! redlock-rb #44: an extension takes milliseconds for seconds.
//!
//! *Claim:* a lock that was extended ends one lease after that, even if its holder is gone.
//! *Mechanism:* the extension is an `EXPIRE`, which counts in seconds, with a lease that is given in milliseconds. A lock
//! that has been extended once lasts a thousand leases; if its holder dies, everybody else waits for them.
//! *Versions:* redlock-rb 0.1.8. Since then it is a `PEXPIRE`.
//! *Source:* <https://github.com/leandromoreira/redlock-rb/issues/44>
//!
//! A worker extends at its checkpoints, every third of the lease. Three stores.

use std::sync::LazyLock;
use std::time::Duration;

use picklock_sim::design::{Args, Design, Family, Param};
use picklock_sim::ids::Key;
use picklock_sim::lock::{Grant, Lock, LockError};
use redis::{RedisResult, Script};

use super::{FIXED, fixed};
use crate::connection::Connection;
use crate::locks::common::{extend_if_owner, millis, on_stores};
use crate::locks::policy::NODE_TIMEOUT;
use crate::locks::redlock::{NODES, Redlock, Rules, Tokens, nodes};

/// The lock that is extended by a thousand leases.
pub(super) static FAMILY: Family = Family {
    name: "redlock-rb-44",
    claim: "redlock-rb's Redlock, extended by its worker with EXPIRE",
    weakness: "the lease is given in milliseconds and taken for seconds: a crash after an extension blocks for long",
    source: "redlock-rb 0.1.8, https://github.com/leandromoreira/redlock-rb/issues/44",
    params: &[FIXED, Param { default: "3", ..NODES }, NODE_TIMEOUT],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = fixed(args);
    on_stores(args, nodes(args), move |seat, policy| async move {
        let ttl = seat.ttl;
        let redlock = Redlock::connect(seat, policy, Rules::published(Tokens::None)).await;
        Ok(RedlockRb { redlock, ttl, fixed })
    })
}

struct RedlockRb {
    redlock: Redlock,
    ttl: Duration,
    fixed: bool,
}

impl Lock for RedlockRb {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.redlock.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.redlock.release(grant).await
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 3)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let mut extended = 0;
        for node in self.redlock.nodes() {
            let answer = if self.fixed {
                extend_if_owner(node, &grant.key, &grant.owner, self.ttl).await
            } else {
                extend_by_seconds(node, &grant.key, &grant.owner, self.ttl).await
            };
            extended += usize::from(answer.unwrap_or(false));
        }
        Ok(extended >= self.redlock.quorum())
    }
}

async fn extend_by_seconds(redis: &Connection, key: &Key, value: &str, ttl: Duration) -> RedisResult<bool> {
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('expire', KEYS[1], ARGV[2])
             end
             return 0",
        )
    });
    SCRIPT.key(key.as_str()).arg(value).arg(millis(ttl)).invoke_async(&mut redis.clone()).await
}
