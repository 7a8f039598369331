//! A lock row without a lease: whoever inserts the row of a name holds the lock, and deletes the row to release it.
//!
//! *Claim:* a primary key admits one row of a name, so there is one holder, however long it is paused. A lock survives a restart of
//! the database, which keeps what is committed.
//! *Weakness:* nobody deletes the row of a client that died, or that does not know that its INSERT was executed: the lock is held for
//! good. A holder that is slow and one that is dead look alike.
//! *Source:* PostgreSQL 15 documentation, 5.4.3 Unique Constraints.
//!
//! Each statement is a transaction of its own. A refused client asks again after 20 to 60 ms. A DELETE whose answer was lost is sent
//! once more: the row has its owner's name, so no other row can go with it. An INSERT without an answer is left as it is.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::params;
use picklock_sim::store::Topology;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::fencing::{self, FENCING};
use super::waiting::{ANSWER_LEASES, CLIENT_TIMEOUT, answer_time};
use crate::client::pool::Pool;
use crate::client::session::{Param, PostgresError};

/// The family of designs that insert a row and delete it.
pub(crate) static FAMILY: Family = Family {
    name: "unique-row",
    claim: "INSERT of a row under a primary key, DELETE at release: one holder, and no lease",
    weakness: "the row of a holder that died stays for good",
    source: "PostgreSQL 15 documentation, 5.4.3 Unique Constraints",
    params: params![CLIENT_TIMEOUT, FENCING],
    build: |args| {
        let timed = answer_time(args, Duration::from_secs(1)).is_some();
        let fenced = fencing::is_on(args);
        let client =
            move |context: Context| async move { Ok(Client::lock(UniqueRow::new(&context, timed, fenced)?)) };
        let design = Design::new("", client)
            .on_stores(Topology::independent(1), Postgres::default())
            .persistent()
            .without_leases();
        fencing::on(args, if timed { design.answered_within(ANSWER_LEASES) } else { design })
    },
};

const SET_UP: &str =
    "CREATE TABLE IF NOT EXISTS lock_row (name text PRIMARY KEY, owner text NOT NULL, token bigint)";
const INSERT: &str = "INSERT INTO lock_row (name, owner) VALUES ($1, $2) RETURNING token";
const INSERT_FENCED: &str =
    "INSERT INTO lock_row (name, owner, token) VALUES ($1, $2, nextval('lock_token')) RETURNING token";
const DELETE: &str = "DELETE FROM lock_row WHERE name = $1 AND owner = $2 RETURNING token";

struct UniqueRow {
    host: Host,
    pool: Pool,
    fenced: bool,
}

impl UniqueRow {
    fn new(context: &Context, timed: bool, fenced: bool) -> Result<UniqueRow, LockError> {
        let timeout = timed.then(|| ANSWER_LEASES * context.ttl);
        Ok(UniqueRow { host: context.host.clone(), pool: Pool::new(context, timeout)?, fenced })
    }

    /// Executes a statement about the row of an owner: the rows that it has changed.
    async fn execute(&self, sql: &str, key: &Key, owner: &str) -> Result<Vec<Row>, PostgresError> {
        let session = self.pool.take().await?;
        let name = key.as_str();
        let params: [Param<'_>; 2] = [(&name, Type::TEXT), (&owner, Type::TEXT)];
        let mut rows = session.rows(sql, &params).await;
        if rows.as_ref().is_err_and(PostgresError::is_undefined_table) {
            if self.fenced {
                session.run(fencing::CREATE).await?;
            }
            session.run(SET_UP).await?;
            rows = session.rows(sql, &params).await;
        }
        self.pool.put(session);
        rows
    }
}

impl Lock for UniqueRow {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        let insert = if self.fenced { INSERT_FENCED } else { INSERT };
        match self.execute(insert, key, &owner).await {
            Ok(rows) => {
                let token = rows.first().map_or(Ok(None), fencing::token)?;
                Ok(Some(Grant { token, ..Grant::new(key, owner) }))
            }
            Err(error) if error.is_unique_violation() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        match self.execute(DELETE, &grant.key, &grant.owner).await {
            Ok(rows) if rows.is_empty() => Err(LockError::new("there is no such row")),
            Err(error) if !error.is_answer() => {
                // Whether it is the first or the second that deletes the row: it is gone then.
                self.execute(DELETE, &grant.key, &grant.owner).await?;
                Ok(())
            }
            outcome => Ok(outcome.map(drop)?),
        }
    }
}
