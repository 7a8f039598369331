//! Statements on PostgreSQL, in a transaction for each few: the common part of the bugs of locks that are rows.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::design::{Context, Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use tokio::sync::Mutex;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::client::pool::Pool;
use crate::client::session::{Param, PostgresError, Session};

/// The leases for which a client waits for an answer.
const ANSWER_LEASES: u32 = 5;

/// A design on one PostgreSQL server that keeps what is committed, and whose clock ends the leases of rows.
pub(super) fn on_postgres(design: Design) -> Design {
    design
        .on_stores(Topology::independent(1), Postgres { leases: true, ..Postgres::default() })
        .persistent()
        .answered_within(ANSWER_LEASES)
}

/// A client of a table of locks.
pub(super) struct Rows {
    pub(super) host: Host,
    pub(super) ttl: Duration,
    pool: Pool,
    /// The statements that make the table and its rows, until they were executed.
    set_up: Mutex<Option<&'static str>>,
}

impl Rows {
    /// # Errors
    /// When the design has no server.
    pub(super) fn new(context: &Context, set_up: &'static str) -> Result<Rows, LockError> {
        let pool = Pool::new(context, Some(ANSWER_LEASES * context.ttl))?;
        let set_up = Mutex::new(Some(set_up));
        Ok(Rows { host: context.host.clone(), ttl: context.ttl, pool, set_up })
    }

    /// The lease as SQL.
    pub(super) fn lease(&self) -> String {
        format!("interval '{} milliseconds'", self.ttl.as_millis())
    }

    /// A session in which the table is there.
    pub(super) async fn session(&self) -> Result<Session, PostgresError> {
        let session = self.pool.take().await?;
        let mut set_up = self.set_up.lock().await;
        if let Some(statements) = *set_up {
            session.run(statements).await?;
            *set_up = None;
        }
        Ok(session)
    }

    /// Keeps a session to be used again.
    pub(super) fn keep(&self, session: Session) {
        self.pool.put(session);
    }

    /// Executes statements about the row of an owner, of which each takes the key as `$1` and the owner as `$2`, in one transaction: the rows
    /// of the last.
    pub(super) async fn transact(
        &self,
        statements: &[&str],
        key: &Key,
        owner: &str,
    ) -> Result<Vec<Row>, PostgresError> {
        let session = self.session().await?;
        session.run("BEGIN").await?;
        let mut rows = Vec::new();
        for statement in statements {
            rows = execute(&session, statement, key, owner).await?;
        }
        session.run("COMMIT").await?;
        self.keep(session);
        Ok(rows)
    }
}

/// Executes a statement about the row of an owner: its rows.
pub(super) async fn execute(
    session: &Session,
    statement: &str,
    key: &Key,
    owner: &str,
) -> Result<Vec<Row>, PostgresError> {
    let name = key.as_str();
    let params: [Param<'_>; 2] = [(&name, Type::TEXT), (&owner, Type::TEXT)];
    session.rows(statement, &params).await
}
