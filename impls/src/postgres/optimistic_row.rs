//! No lock: a row has a version, and a change is made only if the version still is the one that was read.
//!
//! *Claim:* no change is ever lost, whatever pauses, delays or dies: the database compares and changes in one statement. Of the
//! clients at work, the first to be done since the last change makes the next one.
//! *Weakness:* work that met a change by somebody else is done again; a slow client may never get its turn. A change whose answer is
//! lost may or may not have been made.
//! *Source:* optimistic concurrency control, Kung and Robinson, 1981; `@Version` of the Jakarta Persistence specification, 3.4.2.
//!
//! It is [`optimistic`](crate::lockless::optimistic) in SQL: the data lie in the database, and no transaction is open while the client
//! works.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::design::{Conditions, Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Direct, LockError};
use picklock_sim::params;
use picklock_sim::store::Topology;
use tokio_postgres::types::Type;

use super::waiting::{ANSWER_LEASES, CLIENT_TIMEOUT, answer_time};
use crate::client::pool::Pool;
use crate::client::session::{Param, PostgresError, Session};

/// The family of designs that compare the version of a row.
pub(crate) static FAMILY: Family = Family {
    name: "optimistic-row",
    claim: "no lock: UPDATE ... WHERE version = ..., which changes nothing if somebody else was faster",
    weakness: "work is done again whenever somebody else was faster",
    source: "Kung and Robinson, On Optimistic Methods for Concurrency Control, 1981",
    params: params![CLIENT_TIMEOUT],
    build: |args| {
        let timed = answer_time(args, Duration::from_secs(1)).is_some();
        let client =
            move |context: Context| async move { Ok(Client::direct(OptimisticRow::new(&context, timed)?)) };
        let design = Design::new("", client)
            .on_stores(Topology::independent(1), Postgres::default())
            .persistent()
            .believing(Belief::None)
            .guarding_own_data();
        // One that does not go on is in nobody's way.
        let design = Design { leases_to_recover: 2, survives: Conditions::LEASE, ..design };
        if timed { design.answered_within(ANSWER_LEASES) } else { design }
    },
};

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS resource \
                      (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0)";
const INSERT: &str = "INSERT INTO resource (key) VALUES ($1) ON CONFLICT DO NOTHING";
const READ: &str = "SELECT value, version FROM resource WHERE key = $1";
const UPDATE: &str = "UPDATE resource SET value = $2, version = version + 1 WHERE key = $1 AND version = $3";

struct OptimisticRow {
    host: Host,
    pool: Pool,
}

/// A row as it was read.
struct Read {
    value: i64,
    version: i64,
}

impl OptimisticRow {
    fn new(context: &Context, timed: bool) -> Result<OptimisticRow, LockError> {
        let timeout = timed.then(|| ANSWER_LEASES * context.ttl);
        Ok(OptimisticRow { host: context.host.clone(), pool: Pool::new(context, timeout)? })
    }

    /// Reads the row of a key, which is there afterwards.
    async fn read(&self, key: &Key) -> Result<Read, PostgresError> {
        let session = self.pool.take().await?;
        let read = match self.read_once(&session, key).await {
            Err(error) if error.is_undefined_table() => {
                session.run(SET_UP).await?;
                None
            }
            read => read?,
        };
        let read = match read {
            Some(read) => read,
            None => {
                session.execute(INSERT, &[(&key.as_str(), Type::TEXT)]).await?;
                // Nobody deletes a row.
                self.read_once(&session, key).await?.unwrap_or(Read { value: 0, version: 0 })
            }
        };
        self.pool.put(session);
        Ok(read)
    }

    async fn read_once(&self, session: &Session, key: &Key) -> Result<Option<Read>, PostgresError> {
        let rows = session.rows(READ, &[(&key.as_str(), Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Read { value: row.try_get(0)?, version: row.try_get(1)? }))
    }

    /// Changes the row if its version still is this one.
    async fn swap(&self, key: &Key, value: i64, version: i64) -> Result<bool, PostgresError> {
        let session = self.pool.take().await?;
        let name = key.as_str();
        let params: [Param<'_>; 3] = [(&name, Type::TEXT), (&value, Type::INT8), (&version, Type::INT8)];
        let count = session.execute(UPDATE, &params).await;
        self.pool.put(session);
        Ok(count? == 1)
    }
}

impl Direct for OptimisticRow {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        loop {
            let read = self.read(key).await?;
            self.host.sleep(work).await;
            if self.swap(key, read.value + delta, read.version).await? {
                return Ok(());
            }
        }
    }
}
