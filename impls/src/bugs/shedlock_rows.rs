//! ShedLock's table by the clock of the database: the common part of its bugs.

use picklock_sim::design::Context;
use picklock_sim::lock::{Grant, LockError};

use super::rows::Rows;

/// The statement that makes the table.
const SET_UP: &str = "CREATE TABLE IF NOT EXISTS shedlock (name text PRIMARY KEY, lock_until timestamptz NOT NULL, \
                      locked_at timestamptz NOT NULL, locked_by text NOT NULL)";

/// A client of the table.
///
/// # Errors
/// When the design has no server.
pub(super) fn client(context: &Context) -> Result<Rows, LockError> {
    Rows::new(context, SET_UP)
}

/// The columns of a new lease, as an UPDATE sets them.
pub(super) fn set(rows: &Rows) -> String {
    format!("SET lock_until = now() + {}, locked_at = now(), locked_by = $2", rows.lease())
}

/// The statement that takes the lease, and makes the row if there is none.
pub(super) fn insert(rows: &Rows) -> String {
    let (lease, set) = (rows.lease(), set(rows));
    format!(
        "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, now() + {lease}, now(), $2) \
         ON CONFLICT (name) DO UPDATE {set} WHERE shedlock.lock_until <= now() RETURNING name"
    )
}

/// Ends the lease of a grant.
///
/// # Errors
/// When somebody else has taken it, or the statement failed.
pub(super) async fn unlock(rows: &Rows, grant: &Grant) -> Result<(), LockError> {
    let unlock = "UPDATE shedlock SET lock_until = now() WHERE name = $1 AND locked_by = $2 RETURNING name";
    match rows.transact(&[unlock], &grant.key, &grant.owner).await?.is_empty() {
        false => Ok(()),
        true => Err(LockError::new("somebody else has taken the lease")),
    }
}
