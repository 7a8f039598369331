//! redsync #61: an extension returns that it succeeded whatever the stores answered.
//!
//! *Claim:* a holder that extends its lock learns whether it still has it.
//! *Mechanism:* the script answers 0 if the lock is somebody else's or gone. The answer arrives as an `int64` within an
//! interface and is compared with an `int`; in Go the two are never equal, so that 0 is not 0, and every store that answered
//! counts as one that has extended.
//! *Versions:* redsync before 4.0.4 (and 1.3.0 of the line before, <https://github.com/go-redsync/redsync/pull/38>).
//! *Source:* <https://github.com/go-redsync/redsync/pull/61>
//!
//! A holder extends at its checkpoints, every third of the lease, and does not look at the validity: that is what the
//! extension is for. Three stores. `Unlock` had the same bug, which harms nobody: there was nothing to unlock.

use std::time::Duration;

use picklock_sim::design::Family;
use picklock_sim::lock::Grant;
use redis::RedisResult;

use super::at_checkpoints::{Extension, PARAMS, design};
use super::version::FIXED;
use crate::client::connection::Connection;
use crate::redis::common::extend_if_owner;

/// The lock that is always extended.
pub(super) static FAMILY: Family = Family {
    name: "redsync-61",
    claim: "redsync's Redlock, extended by its holder at checkpoints",
    weakness: "a store that says no counts as one that has extended",
    source: "redsync before 4.0.4, https://github.com/go-redsync/redsync/pull/61",
    params: PARAMS,
    build: |args| {
        let fixed = args.get(FIXED);
        design(args, move |_, _| Touch { fixed })
    },
};

struct Touch {
    fixed: bool,
}

impl Extension for Touch {
    async fn on(&self, node: &Connection, grant: &Grant, ttl: Duration) -> RedisResult<bool> {
        let extended = extend_if_owner(node, &grant.key, &grant.owner, ttl).await?;
        Ok(extended || !self.fixed)
    }
}
