//! The lock of a database row: SELECT ... FOR UPDATE in the transaction that changes the data.
//!
//! *Claim:* one holder, in the order of asking, for as long as its transaction lasts, however long it is paused: there is no
//! lease that could end. The change and the end of the lock are one commit: a holder that loses its lock, because its
//! connection or the database dies, loses its change with it.
//! *Weakness:* others stall for as long as a holder does; that of a machine without power is not noticed for
//! hours (`tcp_keepalives_idle`, 7200 s). Whoever guards with it what is not in the database (`data=apart`) goes on when
//! the database has long given the lock to somebody else.
//! *Source:* L19 in the project's list; PostgreSQL 15 documentation, "Explicit Locking", 13.3.2.
//!
//! A session for each lock: connect, see that the row is there, BEGIN, SELECT ... FOR UPDATE; release is COMMIT. With
//! `lock_timeout=on` the server ends the wait; with `off` the client goes away when it has waited long enough, and the
//! server, which does not look at the socket of a session that waits, keeps its place in the queue until its turn comes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_sim::design::{Design, Seat};
use picklock_sim::family::{Domain, Family, Param};
use picklock_sim::host::Host;
use picklock_sim::ids::Key;
use picklock_sim::lock::{Belief, Client, Direct, Grant, Lock, LockError};
use picklock_sim::store::Topology;
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

use crate::postgres::{PostgresError, Session, server_of};

/// The design on one PostgreSQL server.
pub static FAMILY: Family = Family {
    name: "row-lock",
    claim: "SELECT ... FOR UPDATE: one holder for as long as its transaction lasts, and its change commits with it",
    weakness: "others stall for as long as the holder does",
    source: "PostgreSQL 15 documentation, 13.3.2 Row-Level Locks",
    params: &[
        Param {
            name: "data",
            domain: Domain::Word(&["row", "apart"]),
            default: "row",
            doc: "where the guarded data is: in the locked row, or somewhere else",
        },
        Param {
            name: "lock_timeout",
            domain: Domain::Word(&["on", "off"]),
            default: "on",
            doc: "who ends a wait: the server, or the client by going away",
        },
    ],
    build: |args| {
        let (in_row, timed) = (args.word("data") == "row", args.word("lock_timeout") == "on");
        let client = move |seat: Seat| async move {
            let rows = Rows::new(&seat, timed)?;
            Ok(if in_row { Client::direct(rows) } else { Client::lock(RowLock::new(rows)) })
        };
        let design = Design::new("", client)
            .on_stores(Topology::independent(1), picklock_postgres::Postgres)
            .persistent();
        if in_row { design.believing(Belief::None) } else { design }
    },
};

/// The table of the rows: those of `resource` are registers of the guarded resource.
const SET_UP: &str =
    "CREATE TABLE IF NOT EXISTS resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0)";
const INSERT: &str = "INSERT INTO resource (key) VALUES ($1) ON CONFLICT DO NOTHING";
const UPDATE: &str = "UPDATE resource SET value = $2 WHERE key = $1";

/// What a client needs to lock a row.
struct Rows {
    host: Host,
    server: String,
    /// How long an answer may take.
    timeout: Duration,
    /// How long a change without a lock of its own waits for the row.
    patience: Duration,
    /// True if the server is told how long to wait.
    timed: bool,
    /// The rows that are known to be there.
    known: Mutex<BTreeSet<Key>>,
}

/// A transaction that has locked a row.
struct Held {
    session: Session,
    /// What the row held then.
    value: i64,
}

impl Rows {
    fn new(seat: &Seat, timed: bool) -> Result<Rows, LockError> {
        let (host, server) = (seat.host.clone(), server_of(seat)?);
        let (timeout, patience) = (seat.ttl / 2, 2 * seat.ttl);
        Ok(Rows { host, server, timeout, patience, timed, known: Mutex::new(BTreeSet::new()) })
    }

    /// Locks a row, waiting for it at most so long.
    async fn lock(&self, key: &Key, column: &str, wait: Duration) -> Result<Held, PostgresError> {
        let session = Session::open(&self.host, &self.server, self.timeout).await?;
        if !self.known.lock().await.contains(key) {
            session.run(SET_UP).await?;
            session.execute(INSERT, &[(&key.as_str(), Type::TEXT)]).await?;
            self.known.lock().await.insert(key.clone());
        }
        // Of 0 ms the server thinks that it is for ever.
        let ms = wait.as_millis().max(1);
        let (begin, span) = if self.timed {
            (format!("BEGIN; SET LOCAL lock_timeout = {ms}"), wait + self.timeout)
        } else {
            ("BEGIN".to_owned(), wait)
        };
        session.run(&begin).await?;
        let select = format!("SELECT {column} FROM resource WHERE key = $1 FOR UPDATE");
        let rows = session.query(&select, &[(&key.as_str(), Type::TEXT)], span).await?;
        let value = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or(0);
        Ok(Held { session, value })
    }
}

impl Direct for Rows {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        let held = self.lock(key, "value", self.patience).await?;
        self.host.sleep(work).await;
        let value = held.value + delta;
        held.session.execute(UPDATE, &[(&key.as_str(), Type::TEXT), (&value, Type::INT8)]).await?;
        Ok(held.session.run("COMMIT").await?)
    }
}

/// The same as a lock around something else.
struct RowLock {
    rows: Rows,
    held: Mutex<BTreeMap<Key, Held>>,
}

impl RowLock {
    fn new(rows: Rows) -> RowLock {
        RowLock { rows, held: Mutex::new(BTreeMap::new()) }
    }

    async fn wait_for(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        match self.rows.lock(key, "key", wait).await {
            Ok(held) => {
                let owner = self.rows.host.rng().owner_id();
                self.held.lock().await.insert(key.clone(), held);
                Ok(Some(Grant::new(key, owner)))
            }
            Err(error) if error.is_lock_not_available() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Lock for RowLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.wait_for(key, self.rows.timeout).await
    }

    /// Waits in the server's queue; asks again only after an error, as a new one at its end.
    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        loop {
            let left = give_up.since(host.monotonic());
            let outcome = self.wait_for(key, left).await;
            if outcome.is_ok() {
                return outcome;
            }
            let pause = self.retry();
            let pause = host.rng().span(pause.min, pause.max);
            if host.monotonic() + pause >= give_up {
                return outcome;
            }
            host.sleep(pause).await;
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let held = self.held.lock().await.remove(&grant.key);
        let held = held.ok_or_else(|| LockError::new("this client does not hold the row"))?;
        Ok(held.session.run("COMMIT").await?)
    }
}
