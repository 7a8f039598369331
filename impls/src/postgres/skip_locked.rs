//! A job in a table, taken by SELECT ... FOR UPDATE SKIP LOCKED in the transaction that changes the data.
//!
//! *Claim:* nobody waits for a job that somebody else has: it is skipped. What a job changes and the end of its lock are one commit, as
//! with the [row lock](super::row_lock).
//! *Weakness:* a job is skipped for as long as whoever has it does not go on: for hours if that one has lost its power. Nothing orders
//! those who ask, so one of them may ask for ever.
//! *Source:* PostgreSQL 15 documentation, SELECT, "The Locking Clause"; the job queues River, Oban, pg-boss and Solid Queue.
//!
//! One row is one job that comes again and again. A client that finds it taken asks again after 20 to 60 ms, in the session that it has.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::data::{Applied, Operation, ResourceError};
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::params;

use super::row_lock::{Locking, RowLock, of_connections};
use super::waiting::{CLIENT_TIMEOUT, KEEPALIVE, Queued as _, Waiting, server};

/// The family of designs that skip the rows that others have locked.
pub(crate) static FAMILY: Family = Family {
    name: "skip-locked",
    claim: "SELECT ... FOR UPDATE SKIP LOCKED: a job that somebody has is skipped, and its change commits with its end",
    weakness: "a job is skipped for as long as its holder stands still, and nobody has a place in a queue",
    source: "PostgreSQL 15 documentation, SELECT, The Locking Clause",
    params: params![CLIENT_TIMEOUT, KEEPALIVE],
    build: |args| {
        let waiting = Waiting::of(args);
        let locking = Locking { clause: " FOR UPDATE SKIP LOCKED", fenced: false };
        let client = move |context: Context| async move {
            Ok(Client::lock(SkipLocked(RowLock::new(&context, waiting, locking)?)))
        };
        of_connections(args, Design::new("", client), server(args)).guarding_own_data()
    },
};

struct SkipLocked(RowLock);

impl Lock for SkipLocked {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        // It does not wait.
        self.0.wait_for(key, Duration::ZERO).await
    }

    async fn apply(&self, grant: &Grant, operation: Operation) -> Result<Applied, ResourceError> {
        self.0.apply(grant, operation).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = self.0.commit(&grant).await?;
        self.0.keep(session);
        Ok(())
    }
}
