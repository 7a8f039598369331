//! The lock of a database row: SELECT ... FOR UPDATE in the transaction that changes the data.
//!
//! *Claim:* one holder, in the order of asking, for as long as its transaction lasts, however long it is paused: there is no
//! lease that could end. The change and the end of the lock are one commit: a holder that loses its lock, because its
//! connection or the database dies, loses its change with it. Until it asks to commit it may believe that it still holds.
//! *Weakness:* others stall for as long as a holder does; that of a machine without power is not noticed for
//! hours (`tcp_keepalives_idle`, 7200 s). Whoever guards with it what is not in the database (`row-lock-outside`) goes on when the
//! database has long given the lock to somebody else. Whoever forgets FOR UPDATE (`read=plain`) has no lock: at READ COMMITTED two
//! transactions read the same value, and the second change undoes the first.
//! *Source:* PostgreSQL 15 documentation, "Explicit Locking", 13.3.2.
//!
//! A session for each lock: connect, see that the row is there, BEGIN, SELECT ... FOR UPDATE; release is COMMIT. How a client waits,
//! and how it gives up, its parameters say (`waiting`). A section reads the value with a SELECT of its own, once it holds the row,
//! and changes it with an UPDATE before the COMMIT; a transaction of which a statement failed is given up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::data::{Applied, Operation, ResourceError};
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;
use picklock_sim::store::Topology;
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

use super::fencing;
use super::waiting::{
    ANSWER_LEASES, CLIENT_TIMEOUT, GIVE_UP, KEEPALIVE, Queued, Waiting, answer_time, queue, server,
};
use crate::client::pool::Pool;
use crate::client::session::{self, PostgresError, Session};

/// The family of designs that lock the row that they change, on one PostgreSQL server.
pub static FAMILY: Family = Family {
    name: "row-lock",
    claim: "SELECT ... FOR UPDATE: one holder for as long as its transaction lasts, and its change commits with it",
    weakness: "others stall for as long as the holder does, and for hours if it lost its power",
    source: "PostgreSQL 15 documentation, 13.3.2 Row-Level Locks",
    params: params![GIVE_UP, CLIENT_TIMEOUT, KEEPALIVE, READING],
    build: |args| {
        let clause = if args.get(READING) == "plain" { "" } else { FOR_UPDATE };
        let waiting = Waiting::of(args);
        let client = move |context: Context| async move {
            Ok(Client::lock(RowLock::new(&context, waiting, Locking { clause, fenced: false })?))
        };
        of_connections(args, Design::new("", client), server(args)).guarding_own_data()
    },
};

const READING: Param<Word> = Param {
    name: "read",
    domain: Word(&["for-update", "plain"]),
    default: "for-update",
    doc: "how the row is read: plain locks nothing, which is the mistake to be found",
};

pub(super) const FOR_UPDATE: &str = " FOR UPDATE";

/// A design on one server of this kind whose grants last as long as their connections.
pub(super) fn of_connections(args: &Args, design: Design, kind: Postgres) -> Design {
    let design =
        design.on_stores(Topology::independent(1), kind).persistent().without_leases().held_by_connection();
    let waits = answer_time(args, Duration::from_secs(1)).is_some();
    // A statement that waits for its lock has the client's time-out after that.
    if waits { design.answered_within(2 * ANSWER_LEASES - 1) } else { design }
}

/// How a client locks a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locking {
    /// The clause by which a SELECT locks its row.
    pub(super) clause: &'static str,
    /// True if a grant has a token.
    pub(super) fenced: bool,
}

/// The table of the rows: those of `resource` are registers of the guarded resource.
const SET_UP: &str =
    "CREATE TABLE IF NOT EXISTS resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0)";
const INSERT: &str = "INSERT INTO resource (key) VALUES ($1) ON CONFLICT DO NOTHING";
const READ: &str = "SELECT value FROM resource WHERE key = $1";
const UPDATE: &str = "UPDATE resource SET value = $2 WHERE key = $1";

/// A client that locks rows.
pub(super) struct RowLock {
    host: Host,
    ttl: Duration,
    waiting: Waiting,
    locking: Locking,
    /// Sessions that are used again.
    free: Pool,
    /// The rows that are known to be on a server: one that was promoted may not have them.
    known: Mutex<BTreeSet<(String, Key)>>,
    /// The transactions under way.
    held: Mutex<BTreeMap<Key, Held>>,
}

/// A transaction that has locked a row.
pub(super) struct Held(Session);

impl RowLock {
    pub(super) fn new(context: &Context, waiting: Waiting, locking: Locking) -> Result<RowLock, LockError> {
        Ok(RowLock {
            host: context.host.clone(),
            ttl: context.ttl,
            waiting,
            locking,
            free: Pool::new(context, waiting.answer(context.ttl))?,
            known: Mutex::default(),
            held: Mutex::default(),
        })
    }

    /// Locks a row, waiting for it at most so long; none if that was too short, or somebody has it and the clause does not wait.
    async fn lock(&self, key: &Key, wait: Duration) -> Result<Option<Held>, PostgresError> {
        let session = self.free.take().await?;
        let place = (session.server().to_owned(), key.clone());
        if !self.known.lock().await.contains(&place) {
            session.run(SET_UP).await?;
            if self.locking.fenced {
                session.run(fencing::CREATE).await?;
            }
            session.execute(INSERT, &[(&key.as_str(), Type::TEXT)]).await?;
            self.known.lock().await.insert(place);
        }
        session.run(&self.waiting.begin(wait)).await?;
        let select = format!("SELECT key FROM resource WHERE key = $1{}", self.locking.clause);
        let place = (&self.host, &session);
        let name = key.as_str();
        let params: [session::Param<'_>; 1] = [(&name, Type::TEXT)];
        let answer = self.waiting.answer(self.ttl);
        let Some(rows) = self.waiting.lock(place, (&select, &params), wait, answer).await? else {
            return Ok(None);
        };
        if rows.is_empty() {
            session.run("ROLLBACK").await?;
            self.free.put(session);
            return Ok(None);
        }
        Ok(Some(Held(session)))
    }

    /// Ends the transaction of a grant: its session, which is free.
    pub(super) async fn commit(&self, grant: &Grant) -> Result<Session, LockError> {
        let held = self.held.lock().await.remove(&grant.key);
        let held = held.ok_or_else(|| LockError::new("this client does not hold the row").undone())?;
        held.commit().await?;
        Ok(held.0)
    }

    /// Keeps a session to be used again.
    pub(super) fn keep(&self, session: Session) {
        self.free.put(session);
    }
}

impl Held {
    async fn apply(&self, key: &Key, operation: Operation) -> Result<Applied, ResourceError> {
        match operation {
            Operation::Read => {
                let rows = self.0.rows(READ, &[(&key.as_str(), Type::TEXT)]).await;
                let rows = rows.map_err(|_| ResourceError::Undone)?;
                let value = rows.first().and_then(|row| row.try_get(0).ok());
                value.map(Applied::Now).ok_or(ResourceError::Undone)
            }
            Operation::Write(value) => {
                let name = key.as_str();
                let params: [session::Param<'_>; 2] = [(&name, Type::TEXT), (&value, Type::INT8)];
                self.0.execute(UPDATE, &params).await.map_err(|_| ResourceError::Undone)?;
                Ok(Applied::AtRelease(value))
            }
            _ => Err(ResourceError::NotSent),
        }
    }

    async fn commit(&self) -> Result<(), LockError> {
        if self.0.is_closed() {
            return Err(LockError::new("the connection was lost before the commit").undone());
        }
        self.0.run("COMMIT").await.map_err(|error| {
            let refused = error.is_answer();
            let error = LockError::from(error);
            if refused { error.undone() } else { error }
        })
    }
}

impl Queued for RowLock {
    async fn wait_for(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let Some(held) = self.lock(key, wait).await? else { return Ok(None) };
        let mut grant = Grant::new(key, self.host.rng().owner_id());
        if self.locking.fenced {
            let other = self.free.take().await?;
            grant.token = fencing::draw(&other).await?;
            self.free.put(other);
        }
        self.held.lock().await.insert(key.clone(), held);
        Ok(Some(grant))
    }

    fn slice(&self, wait: Duration) -> Duration {
        self.waiting.slice(wait, self.ttl)
    }
}

impl Lock for RowLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.wait_for(key, self.slice(self.ttl / 2)).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        queue(self, host, key, wait).await
    }

    /// A transaction of which a statement failed is dropped with its session, which rolls it back.
    async fn apply(&self, grant: &Grant, operation: Operation) -> Result<Applied, ResourceError> {
        let held = self.held.lock().await.remove(&grant.key);
        let held = held.ok_or(ResourceError::Undone)?;
        let applied = held.apply(&grant.key, operation).await?;
        self.held.lock().await.insert(grant.key.clone(), held);
        Ok(applied)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.commit(&grant).await.map(drop)
    }
}
