//! A row with the end of a lease: whoever finds no row, or one whose lease is over, makes the lease its own.
//!
//! *Claim:* one holder per lease, and a crashed one blocks the others for no longer than its lease. A database that is there anyway will do.
//! *Weakness:* as every lease: one that ends while its holder works makes a second holder. And a lease is over by somebody's clock:
//! with the clients' own (`time=application`) one whose clock is ahead takes what another one holds. `now()` is the start of the
//! transaction: a statement that has waited for another one on the same row writes a lease that is as old as its wait. A client that dies
//! without a word before its COMMIT keeps the row for hours, whatever its lease is.
//! *Source:* ShedLock 7.9, `JdbcTemplateLockProvider`, and its `usingDbTime` for PostgreSQL.
//!
//! As ShedLock does, a client that has not seen the row yet sends INSERT ... ON CONFLICT DO UPDATE ... WHERE lock_until <= now, and UPDATE ...
//! WHERE lock_until <= now afterwards; each between BEGIN and COMMIT, which are calls of their own. Release is an UPDATE that ends the lease;
//! the row stays. The owner is the name of the host.

use std::collections::BTreeSet;
use std::time::Duration;

use picklock_model::ids::{Key, Token};
use picklock_postgres::Postgres;
use picklock_sim::design::{Conditions, Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;
use picklock_sim::store::Topology;
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

use super::fencing::{self, FENCING};
use super::waiting::{ANSWER_LEASES, CLIENT_TIMEOUT, answer_time};
use crate::client::policy::{self, BELIEF, DRIFT};
use crate::client::pool::Pool;
use crate::client::session::{Param as Value, PostgresError, Session};

/// The family of designs with a lease in a row.
pub(crate) static FAMILY: Family = Family {
    name: "lease-row",
    claim: "INSERT ... ON CONFLICT DO UPDATE ... WHERE lock_until <= now: one holder per lease",
    weakness: "a lease that ends while its holder works makes a second holder, and so does a clock that is ahead",
    source: "ShedLock 7.9, JdbcTemplateLockProvider",
    params: params![TIME, BELIEF, DRIFT, CLIENT_TIMEOUT, FENCING],
    build: |args| made(policy::Policy::of(args), Policy::of(args)),
};

/// The design with its defaults but for the clock, which is a value of [`TIME`].
pub(crate) fn by_time(args: &Args, time: &str) -> Design {
    made(policy::Policy::of(args), Policy { server_time: server_time(time), timed: true, fenced: false })
}

fn made(belief: policy::Policy, policy: Policy) -> Design {
    let client =
        move |context: Context| async move { Ok(Client::lock(LeaseRow::new(&context, belief, policy)?)) };
    let kind = Postgres { leases: policy.server_time.is_some(), ..Postgres::default() };
    let design = Design::new("", client)
        .on_stores(Topology::independent(1), kind)
        .persistent()
        // The row between UPDATE and COMMIT.
        .held_by_connection()
        .believing(belief.belief);
    let design = Design { survives: Conditions::LEASE, ..design };
    let design = if policy.fenced { design.fenced() } else { design };
    if policy.timed { design.answered_within(ANSWER_LEASES) } else { design }
}

/// The present as the server has it; none for the client's clock.
fn server_time(time: &str) -> Option<&'static str> {
    match time {
        "now" => Some("now()"),
        "clock-timestamp" => Some("clock_timestamp()"),
        _ => None,
    }
}

const TIME: Param<Word> = Param {
    name: "time",
    domain: Word(&["application", "now", "clock-timestamp"]),
    default: "application",
    doc: "whose clock begins and ends a lease: the client's, or the server's by `now()`, which is the start of the transaction, \
          or by `clock_timestamp()`",
};

/// How a client takes a lease.
#[derive(Clone, Copy, Debug)]
struct Policy {
    /// The present by the server's clock; none for the client's.
    server_time: Option<&'static str>,
    /// True if a client has a time-out of its own.
    timed: bool,
    fenced: bool,
}

impl Policy {
    fn of(args: &Args) -> Policy {
        let timed = answer_time(args, Duration::from_secs(1)).is_some();
        Policy { server_time: server_time(args.get(TIME)), timed, fenced: fencing::is_on(args) }
    }
}

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS shedlock (name text PRIMARY KEY, lock_until timestamptz NOT NULL, \
                      locked_at timestamptz NOT NULL, locked_by text NOT NULL, token bigint)";

struct LeaseRow {
    host: Host,
    ttl: Duration,
    belief: policy::Policy,
    policy: Policy,
    pool: Pool,
    /// The rows that are known to be there.
    known: Mutex<BTreeSet<Key>>,
}

impl LeaseRow {
    fn new(context: &Context, belief: policy::Policy, policy: Policy) -> Result<LeaseRow, LockError> {
        let timeout = policy.timed.then(|| ANSWER_LEASES * context.ttl);
        let pool = Pool::new(context, timeout)?;
        let (host, ttl) = (context.host.clone(), context.ttl);
        Ok(LeaseRow { host, ttl, belief, policy, pool, known: Mutex::default() })
    }

    /// The present, as SQL: the client's own clock is read here.
    fn present(&self) -> String {
        self.policy.server_time.map_or_else(
            || {
                let micros = self.host.wall().as_nanos() / 1_000;
                format!("(timestamptz '1970-01-01 00:00:00+00' + interval '1 microsecond' * {micros})")
            },
            str::to_owned,
        )
    }

    /// The columns of a row with a new lease: their values.
    fn lease(&self, present: &str) -> [String; 2] {
        let token = if self.policy.fenced { "nextval('lock_token')" } else { "NULL" };
        [format!("{present} + interval '{} milliseconds'", self.ttl.as_millis()), token.to_owned()]
    }

    /// Takes the lease by an INSERT, which makes the row if there is none.
    async fn insert(&self, key: &Key) -> Result<Option<Option<Token>>, PostgresError> {
        let now = self.present();
        let [end, token] = self.lease(&now);
        self.change(
            key,
            &format!(
                "INSERT INTO shedlock (name, lock_until, locked_at, locked_by, token) VALUES ($1, {end}, {now}, $2, {token}) \
                 ON CONFLICT (name) DO UPDATE SET lock_until = {end}, locked_at = {now}, locked_by = $2, token = {token} \
                 WHERE shedlock.lock_until <= {now} RETURNING token"
            ),
        )
        .await
    }

    /// Takes the lease of a row that is there.
    async fn update(&self, key: &Key) -> Result<Option<Option<Token>>, PostgresError> {
        let now = self.present();
        let [end, token] = self.lease(&now);
        self.change(
            key,
            &format!(
                "UPDATE shedlock SET lock_until = {end}, locked_at = {now}, locked_by = $2, token = {token} \
                 WHERE name = $1 AND lock_until <= {now} RETURNING token"
            ),
        )
        .await
    }

    /// Executes a statement about the row of a key in a transaction: the token of the row that it has changed, if it has.
    async fn change(&self, key: &Key, sql: &str) -> Result<Option<Option<Token>>, PostgresError> {
        let session = self.pool.take().await?;
        let changed = self.transact(&session, key, sql).await?;
        self.pool.put(session);
        Ok(changed)
    }

    async fn transact(
        &self,
        session: &Session,
        key: &Key,
        sql: &str,
    ) -> Result<Option<Option<Token>>, PostgresError> {
        session.run("BEGIN").await?;
        let (name, owner) = (key.as_str(), self.host.name());
        let params: [Value<'_>; 2] = [(&name, Type::TEXT), (&owner, Type::TEXT)];
        let rows = session.rows(sql, &params).await?;
        session.run("COMMIT").await?;
        rows.first().map(fencing::token).transpose()
    }

    async fn set_up(&self) -> Result<(), PostgresError> {
        let session = self.pool.take().await?;
        session.run(SET_UP).await?;
        if self.policy.fenced {
            session.run(fencing::CREATE).await?;
        }
        self.pool.put(session);
        Ok(())
    }

    /// Asks for the lease, as a client does that has seen the row or has not: the token, if it is granted.
    async fn ask(&self, key: &Key) -> Result<Option<Option<Token>>, PostgresError> {
        let is_new = !self.known.lock().await.contains(key);
        if is_new {
            self.set_up().await?;
            let granted = self.insert(key).await?;
            self.known.lock().await.insert(key.clone());
            if granted.is_some() {
                return Ok(granted);
            }
        }
        let granted = self.update(key).await;
        if granted.is_err() && !is_new {
            self.known.lock().await.remove(key);
        }
        granted
    }
}

impl Lock for LeaseRow {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let began = self.belief.clock.read(&self.host);
        let Some(token) = self.ask(key).await? else { return Ok(None) };
        let mut grant = Grant::new(key, self.host.name());
        grant.token = token;
        grant.deadline = match self.belief.belief {
            Belief::Honest => Some(self.belief.lease_end(began, self.ttl).deadline()),
            Belief::Trusting => Some(self.belief.clock.read(&self.host).plus(self.ttl).deadline()),
            _ => None,
        };
        Ok(Some(grant))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let now = self.present();
        let unlock = format!(
            "UPDATE shedlock SET lock_until = {now} WHERE name = $1 AND locked_by = $2 RETURNING token"
        );
        match self.change(&grant.key, &unlock).await? {
            Some(_) => Ok(()),
            None => Err(LockError::new("somebody else has taken the lease")),
        }
    }
}
