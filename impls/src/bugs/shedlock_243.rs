//! ShedLock #243: the UPDATE that takes a lock does not name it.
//!
//! *Claim:* a scheduled task runs once at a time; its lock is a row with the end of a lease, by the clock of the database.
//! *Mechanism:* the clause that looks whether the lease is over served INSERT ... ON CONFLICT, which has found the row by its name, and UPDATE, which
//! has not: it takes every row whose lease is over, and that some row was changed counts as granted. So a task is granted its lock while
//! somebody holds it, if any other lock is free.
//! *Versions:* ShedLock 4.9.0 to 4.9.2 with `usingDbTime`; 4.9.3 has added the name.
//! *Source:* <https://github.com/lukas-krecan/ShedLock/issues/243>, mended by <https://github.com/lukas-krecan/ShedLock/pull/244>

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::rows::{Rows, on_postgres};
use super::shedlock_rows;
use super::version::FIXED;

/// The lock that takes all that are free.
pub(super) static FAMILY: Family = Family {
    name: "shedlock-243",
    claim: "ShedLock's row with a lease, by the clock of PostgreSQL",
    weakness: "the UPDATE takes every row whose lease is over, whatever its name",
    source: "ShedLock 4.9.0 to 4.9.2, https://github.com/lukas-krecan/ShedLock/issues/243",
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
}

impl Lock for ShedLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.rows.host.rng().owner_id();
        let (insert, set) = (shedlock_rows::insert(&self.rows), shedlock_rows::set(&self.rows));
        // Without the name it still has a parameter for it.
        let name = if self.fixed { "name = $1" } else { "$1 <> ''" };
        let update = format!("UPDATE shedlock {set} WHERE {name} AND lock_until <= now() RETURNING name");
        for statement in [insert, update] {
            if !self.rows.transact(&[&statement], key, &owner).await?.is_empty() {
                return Ok(Some(Grant::new(key, owner)));
            }
        }
        Ok(None)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        shedlock_rows::unlock(&self.rows, &grant).await
    }
}
