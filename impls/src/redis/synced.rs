//! Redisson's `checkLockSyncedSlaves`: each request for the lock goes out together with a `WAIT` for all replicas that the primary has, and
//! counts unless none of them has acknowledged it.
//!
//! How many replicas there are, the primary is asked once (`connected_slaves` of INFO), and again after a number that was not met. A
//! primary without replicas is not waited for. `WAIT` takes a quarter of the lease at most, where Redisson's `slavesSyncTimeout` is 1 s beside
//! a lease of 30 s.
//!
//! *Source:* `CommandAsyncService.syncedEval` and `handleNoSync` of Redisson 4.7.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{Cmd, FromRedisValue, RedisResult, cmd, pipe};

use super::common::millis;
use crate::client::connection::Connection;

/// What a client knows of the replicas of its primary.
pub(crate) struct Synced {
    /// How many there are; none if that is to be asked.
    replicas: Mutex<Option<u64>>,
    timeout: Duration,
}

impl Synced {
    /// One that waits for so long.
    pub(crate) fn within(timeout: Duration) -> Synced {
        Synced { replicas: Mutex::new(None), timeout }
    }

    fn replicas(&self) -> MutexGuard<'_, Option<u64>> {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request and waits: its answer, and false if there are replicas and none has acknowledged it.
    pub(crate) async fn ask<T: FromRedisValue>(
        &self,
        redis: &Connection,
        request: Cmd,
    ) -> RedisResult<(T, bool)> {
        let known = *self.replicas();
        let replicas = match known {
            Some(replicas) => replicas,
            None => connected(redis).await?,
        };
        let mut both = pipe();
        both.add_command(request);
        both.cmd("WAIT").arg(replicas).arg(millis(self.timeout));
        let (answer, synced): (T, u64) = both.query_async(&mut redis.clone()).await?;
        *self.replicas() = (synced == replicas).then_some(replicas);
        Ok((answer, synced > 0 || replicas == 0))
    }
}

/// How many replicas a primary has.
async fn connected(redis: &Connection) -> RedisResult<u64> {
    let info: String = cmd("INFO").arg("replication").query_async(&mut redis.clone()).await?;
    let number = info.lines().find_map(|line| line.strip_prefix("connected_slaves:"));
    Ok(number.and_then(|number| number.trim().parse().ok()).unwrap_or_default())
}
