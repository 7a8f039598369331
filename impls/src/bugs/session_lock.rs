//! An advisory lock of a session that is used again after the release: the common part of the bugs of locks that a session has more than once, or
//! that nobody knows of.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::design::{Context, Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

use crate::client::pool::Pool;
use crate::client::session::{PostgresError, Session};

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// A holder asks for what it has, every third of a lease.
    pub(super) asks_again: bool,
    /// A session of which an answer came too late is used again.
    pub(super) keeps_late: bool,
}

/// A design whose clients lock in these ways.
pub(super) fn design(ways: Ways) -> Design {
    let client = move |context: Context| async move { Ok(Client::lock(SessionLock::new(&context, ways)?)) };
    let design = Design::new("", client)
        .on_stores(Topology::independent(1), Postgres::default())
        .persistent()
        .without_leases()
        .held_by_connection();
    if ways.asks_again { design.renewing() } else { design }
}

const TRY: &str = "SELECT pg_try_advisory_lock(hashtext($1))";
const UNLOCK: &str = "SELECT pg_advisory_unlock(hashtext($1))";

struct SessionLock {
    ttl: Duration,
    ways: Ways,
    pool: Pool,
    held: Mutex<BTreeMap<Key, Session>>,
    host: Host,
}

impl SessionLock {
    fn new(context: &Context, ways: Ways) -> Result<SessionLock, LockError> {
        // No answer may take longer than half a lease.
        let pool = Pool::new(context, Some(context.ttl / 2))?;
        Ok(SessionLock { ttl: context.ttl, ways, pool, held: Mutex::default(), host: context.host.clone() })
    }

    /// Executes a statement that answers yes or no. A session of which it does not come is of no more use.
    async fn ask(&self, session: &Session, sql: &str, key: &Key) -> Result<bool, PostgresError> {
        let rows = session.rows(sql, &[(&key.as_str(), Type::TEXT)]).await?;
        rows.first().map_or(Ok(false), |row| Ok(row.try_get(0)?))
    }
}

impl Lock for SessionLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let session = self.pool.take().await?;
        match self.ask(&session, TRY, key).await {
            Ok(true) => {
                self.held.lock().await.insert(key.clone(), session);
                Ok(Some(Grant::new(key, self.host.rng().owner_id())))
            }
            Ok(false) => {
                self.pool.put(session);
                Ok(None)
            }
            Err(error) => {
                if self.ways.keeps_late {
                    self.pool.put_late(session);
                }
                Err(error.into())
            }
        }
    }

    fn checkpoint(&self) -> Option<Duration> {
        self.ways.asks_again.then_some(self.ttl / 3)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let held = self.held.lock().await;
        match held.get(&grant.key) {
            Some(session) => Ok(self.ask(session, TRY, &grant.key).await?),
            None => Ok(false),
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = self.held.lock().await.remove(&grant.key);
        let session = session.ok_or_else(|| LockError::new("this client does not hold the lock"))?;
        let unlocked = self.ask(&session, UNLOCK, &grant.key).await?;
        self.pool.put(session);
        if unlocked { Ok(()) } else { Err(LockError::new("the session does not hold the lock")) }
    }
}
