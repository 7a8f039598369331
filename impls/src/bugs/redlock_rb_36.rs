//! redlock-rb #36: an extension takes a lock that has run out once more.
//!
//! *Claim:* a worker that extends its lock learns whether it still has it.
//! *Mechanism:* to extend is to lock with the value that one has: the script sets the key if it holds this value or if
//! there is none. A worker that comes back after its lease has run out, and after somebody else had the lock and let it
//! go, is told that all is well.
//! *Versions:* redlock-rb before `extend_only_if_life`, May 2016.
//! *Source:* <https://github.com/leandromoreira/redlock-rb/issues/36>
//!
//! A worker extends at its checkpoints, every third of the lease, and does not look at the validity: that is what the
//! extension is for. Three stores.

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

/// The lock that is extended by taking it.
pub(super) static FAMILY: Family = Family {
    name: "redlock-rb-36",
    claim: "redlock-rb's Redlock, extended by its worker by locking once more with the same value",
    weakness: "an extension also succeeds when the lock had run out and somebody else had it meanwhile",
    source: "redlock-rb before May 2016, https://github.com/leandromoreira/redlock-rb/issues/36",
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
                set_if_absent_or_owner(node, &grant.key, &grant.owner, self.ttl).await
            };
            extended += usize::from(answer.unwrap_or(false));
        }
        Ok(extended >= self.redlock.quorum())
    }
}

/// Sets the key if there is none or if it holds this value.
async fn set_if_absent_or_owner(
    redis: &Connection,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('exists', KEYS[1]) == 0 or redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
             end
             return false",
        )
    });
    let set: Option<String> =
        SCRIPT.key(key.as_str()).arg(value).arg(millis(ttl)).invoke_async(&mut redis.clone()).await?;
    Ok(set.is_some())
}
