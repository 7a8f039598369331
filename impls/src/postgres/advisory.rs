//! An advisory lock: a number that a session locks, which stands for whatever its users agree upon.
//!
//! *Claim:* one holder, in the order of asking, for as long as its session lasts, or its transaction (`scope=transaction`). There is no
//! table, and no lease that could end. A session may lock once more what it has locked.
//! *Weakness:* the lock is lost with the session, and its holder is not notified: a restart of the server, a broken connection or a pooler
//! between the two gives it to somebody else. It is in no log and on no standby. Nothing ties it to the data that it guards. Others stall for
//! as long as a holder does; that of a machine without power is not noticed for hours.
//! *Source:* PostgreSQL 15 documentation, 13.3.5 Advisory Locks, 9.27.10 Advisory Lock Functions.
//!
//! A session for each lock, whose number `hashtext` makes of the name, as Django and Rails users do. Release unlocks it and ends the session. A
//! task that holds a lock acquires it once more in the same session, which counts; of a transaction's lock nothing is released before its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::Postgres;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

use super::fencing::{self, FENCING};
use super::row_lock::of_connections;
use super::waiting::{CLIENT_TIMEOUT, GIVE_UP, KEEPALIVE, Queued, Waiting, queue, server};
use crate::client::session::{self, PostgresError, Servers, Session};

/// The family of designs that lock a number.
pub(crate) static FAMILY: Family = Family {
    name: "advisory",
    claim: "pg_advisory_lock: one holder for as long as its session lasts",
    weakness: "a session that ends takes the lock with it, and its holder is not notified",
    source: "PostgreSQL 15 documentation, 13.3.5 Advisory Locks",
    params: params![SCOPE, GIVE_UP, CLIENT_TIMEOUT, KEEPALIVE, FENCING],
    build: |args| fencing::on(args, design(args, server(args))),
};

/// A design whose clients lock numbers on a server of this kind.
pub(crate) fn design(args: &Args, kind: Postgres) -> Design {
    let policy = Policy::of(args);
    let client = move |context: Context| async move { Ok(Client::lock(Advisory::new(&context, policy)?)) };
    of_connections(args, Design::new("", client), kind).nesting()
}

const SCOPE: Param<Word> = Param {
    name: "scope",
    domain: Word(&["session", "transaction"]),
    default: "session",
    doc: "how long the lock lasts: until it is unlocked or its session ends, or to the end of a transaction",
};

const UNLOCK: &str = "SELECT pg_advisory_unlock(hashtext($1))";

/// How a client takes a lock.
#[derive(Clone, Copy, Debug)]
struct Policy {
    waiting: Waiting,
    /// True if the lock is a transaction's.
    transaction: bool,
    fenced: bool,
}

impl Policy {
    fn of(args: &Args) -> Policy {
        Policy {
            waiting: Waiting::of(args),
            transaction: args.find(SCOPE) == Some("transaction"),
            fenced: args.find(FENCING) == Some("sequence"),
        }
    }
}

struct Advisory {
    host: Host,
    servers: Servers,
    ttl: Duration,
    policy: Policy,
    /// What each task holds.
    held: Mutex<BTreeMap<(Key, u32), Held>>,
}

/// A lock that is held.
struct Held {
    session: Arc<Session>,
    /// How often it was acquired without being released.
    holds: u32,
}

impl Advisory {
    fn new(context: &Context, policy: Policy) -> Result<Advisory, LockError> {
        let servers = Servers::of(context)?;
        Ok(Advisory { host: context.host.clone(), servers, ttl: context.ttl, policy, held: Mutex::default() })
    }

    /// Locks the number of a key, waiting for it at most so long; none if that was too short. What the task holds it locks once more.
    async fn lock(&self, key: &Key, wait: Duration) -> Result<Option<Arc<Session>>, PostgresError> {
        let held = self.held.lock().await.get(&self.place(key)).map(|held| Arc::clone(&held.session));
        if let Some(session) = held {
            return self.lock_in(session, key, wait).await;
        }
        let Policy { waiting, transaction, fenced } = self.policy;
        let session = Arc::new(Session::open(&self.host, &self.servers, self.answer()).await?);
        if fenced {
            session.run(fencing::CREATE).await?;
        }
        let before = if transaction { Some(waiting.begin(wait)) } else { waiting.set(wait) };
        if let Some(before) = before {
            session.run(&before).await?;
        }
        self.lock_in(session, key, wait).await
    }

    async fn lock_in(
        &self,
        session: Arc<Session>,
        key: &Key,
        wait: Duration,
    ) -> Result<Option<Arc<Session>>, PostgresError> {
        let Policy { waiting, transaction, .. } = self.policy;
        let call = if transaction { "pg_advisory_xact_lock" } else { "pg_advisory_lock" };
        let select = format!("SELECT {call}(hashtext($1))");
        let name = key.as_str();
        let params: [session::Param<'_>; 1] = [(&name, Type::TEXT)];
        let place = (&self.host, &*session);
        let rows = waiting.lock(place, (&select, &params), wait, self.answer()).await?;
        Ok(rows.map(|_| session))
    }

    /// A lock of the task that asks.
    fn place(&self, key: &Key) -> (Key, u32) {
        (key.clone(), self.host.task())
    }

    /// How long a client waits for an answer.
    fn answer(&self) -> Option<Duration> {
        self.policy.waiting.answer(self.ttl)
    }

    async fn unlock(&self, key: &Key, session: &Session) -> Result<(), LockError> {
        if self.policy.transaction {
            return Ok(session.run("COMMIT").await?);
        }
        let rows = session.rows(UNLOCK, &[(&key.as_str(), Type::TEXT)]).await?;
        let is_unlocked = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or(false);
        if is_unlocked { Ok(()) } else { Err(LockError::new("the session does not hold the lock")) }
    }
}

impl Queued for Advisory {
    async fn wait_for(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let Some(session) = self.lock(key, wait).await? else { return Ok(None) };
        let mut grant = Grant::new(key, self.host.rng().owner_id());
        if self.policy.fenced {
            grant.token = match self.policy.transaction {
                true => {
                    fencing::draw(&Session::open(&self.host, &self.servers, self.answer()).await?).await?
                }
                false => fencing::draw(&session).await?,
            };
        }
        let mut held = self.held.lock().await;
        held.entry(self.place(key)).or_insert(Held { session, holds: 0 }).holds += 1;
        Ok(Some(grant))
    }

    fn slice(&self, wait: Duration) -> Duration {
        self.policy.waiting.slice(wait, self.ttl)
    }
}

impl Lock for Advisory {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.wait_for(key, self.slice(self.ttl / 2)).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        // Another session does not have what a broken one held: a task that holds the lock tries once.
        let holds = self.held.lock().await.contains_key(&self.place(key));
        match holds {
            true => self.wait_for(key, self.slice(wait)).await,
            false => queue(self, host, key, wait).await,
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let place = self.place(&grant.key);
        let mut held = self.held.lock().await;
        let own = held.get_mut(&place);
        let own = own.ok_or_else(|| LockError::new("this client does not hold the lock"))?;
        own.holds -= 1;
        let (session, is_last) = (Arc::clone(&own.session), own.holds == 0);
        if is_last {
            held.remove(&place);
        } else if self.policy.transaction {
            return Ok(());
        }
        drop(held);
        self.unlock(&grant.key, &session).await
    }
}
