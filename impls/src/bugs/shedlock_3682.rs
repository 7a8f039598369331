//! ShedLock #3682: a lock that is taken in a transaction which has been open for longer than the lease.
//!
//! *Claim:* a scheduled task runs once at a time; its lock is a row with the end of a lease, by the clock of the database.
//! *Mechanism:* `now()` is the start of the transaction. In one that was begun before the work that comes before the lock, the lease is
//! reckoned from there: it is over, or nearly, when it is written, for whoever asks in a younger one.
//! *Versions:* the jOOQ provider up to 7.8.0; 7.9.0 takes the lock in a transaction of its own if its new constructor is used.
//! *Source:* <https://github.com/lukas-krecan/ShedLock/issues/3682>
//!
//! Here the work before the lock takes up to a lease and a half.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::rows::{Rows, execute, on_postgres};
use super::shedlock_rows;
use super::version::FIXED;

/// The lock that is taken in an old transaction.
pub(super) static FAMILY: Family = Family {
    name: "shedlock-3682",
    claim: "ShedLock's row with a lease, by the clock of PostgreSQL, within a transaction of the caller",
    weakness: "now() is the start of the transaction: the lease is as old as that",
    source: "ShedLock's jOOQ provider, https://github.com/lukas-krecan/ShedLock/issues/3682",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    let client = move |context: Context| async move { Ok(Client::lock(ShedLock::new(&context, fixed)?)) };
    on_postgres(Design::new("", client))
}

struct ShedLock {
    rows: Rows,
    fixed: bool,
}

impl ShedLock {
    fn new(context: &Context, fixed: bool) -> Result<ShedLock, LockError> {
        Ok(ShedLock { rows: shedlock_rows::client(context)?, fixed })
    }

    /// How long the caller is at work in its transaction before it asks for the lock.
    fn before(&self) -> Duration {
        self.rows.host.rng().span(Duration::ZERO, self.rows.ttl * 3 / 2)
    }
}

impl Lock for ShedLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let (owner, take) = (self.rows.host.rng().owner_id(), shedlock_rows::insert(&self.rows));
        let session = self.rows.session().await?;
        if !self.fixed {
            session.run("BEGIN").await?;
        }
        // A transaction of its own begins after that.
        self.rows.host.sleep(self.before()).await;
        if self.fixed {
            session.run("BEGIN").await?;
        }
        let taken = execute(&session, &take, key, &owner).await?;
        session.run("COMMIT").await?;
        self.rows.keep(session);
        Ok((!taken.is_empty()).then(|| Grant::new(key, owner)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        shedlock_rows::unlock(&self.rows, &grant).await
    }
}
