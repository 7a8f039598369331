//! Liquibase #5438: who has waited in vain frees the lock of the one at work.
//!
//! *Claim:* one instance changes the schema at a time: it has marked the only row of a table as locked.
//! *Mechanism:* the wait for the lock stands within the `try` whose `finally` releases it, and the release does not ask who has locked.
//! An instance that gives up after its wait unlocks the one that works, and the next one comes in.
//! *Versions:* the command `update` of 4.24.0 to 4.29.1; mended in 4.29.2.
//! *Source:* <https://github.com/liquibase/liquibase/issues/5438>, <https://github.com/liquibase/liquibase/pull/6218>

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::rows::{Rows, on_postgres};
use super::version::FIXED;

/// The lock that is freed by who does not get it.
pub(super) static FAMILY: Family = Family {
    name: "liquibase-5438",
    claim: "Liquibase's DATABASECHANGELOGLOCK: a row that is marked as locked",
    weakness: "who gives up waiting releases what it never had",
    source: "Liquibase 4.24.0 to 4.29.1, https://github.com/liquibase/liquibase/issues/5438",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    let client = move |context: Context| async move { Ok(Client::lock(ChangeLog::new(&context, fixed)?)) };
    on_postgres(Design::new("", client)).without_leases()
}

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS databasechangeloglock (id text PRIMARY KEY, locked boolean NOT NULL, lockedby text)";
const INSERT: &str =
    "INSERT INTO databasechangeloglock (id, locked, lockedby) VALUES ($1, FALSE, $2) ON CONFLICT DO NOTHING";
const TAKE: &str = "UPDATE databasechangeloglock SET locked = TRUE, lockedby = $2 WHERE id = $1 AND locked = FALSE RETURNING id";
/// It takes its owner for the sake of the caller, and does not compare it.
const FREE: &str = "UPDATE databasechangeloglock SET locked = FALSE, lockedby = NULL WHERE id = $1 AND $2 <> '' RETURNING id";

struct ChangeLog {
    rows: Rows,
    fixed: bool,
}

impl ChangeLog {
    fn new(context: &Context, fixed: bool) -> Result<ChangeLog, LockError> {
        Ok(ChangeLog { rows: Rows::new(context, SET_UP)?, fixed })
    }
}

impl Lock for ChangeLog {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.rows.host.name();
        self.rows.transact(&[INSERT], key, &owner).await?;
        let taken = self.rows.transact(&[TAKE], key, &owner).await?;
        Ok((!taken.is_empty()).then(|| Grant::new(key, owner)))
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        loop {
            host.begin_attempt();
            if let Some(grant) = self.try_acquire(key).await? {
                return Ok(Some(grant));
            }
            let pause = self.retry();
            let pause = host.rng().span(pause.min, pause.max);
            if host.monotonic() + pause >= give_up {
                break;
            }
            host.sleep(pause).await;
        }
        if !self.fixed {
            self.rows.transact(&[FREE], key, &host.name()).await?;
        }
        Ok(None)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.rows.transact(&[FREE], &grant.key, &grant.owner).await?;
        Ok(())
    }
}
