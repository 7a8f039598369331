//! django-q #213: a job is looked for, and then marked without another look.
//!
//! *Claim:* clusters on several machines share a queue, and each job goes to one of them.
//! *Mechanism:* the free jobs are read by a plain SELECT, and marked by an UPDATE that names the job and nothing else. Two clusters read the
//! same job, both mark it, and both run it.
//! *Versions:* the ORM broker up to 0.7.18; since 0.8.0 the UPDATE compares what was read, and the job is taken only if one row was changed.
//! *Source:* <https://github.com/Koed00/django-q/pull/213>

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use tokio_postgres::types::Type;

use super::rows::{Rows, on_postgres};
use super::version::FIXED;
use crate::client::session::Param;

/// The queue that hands out a job twice.
pub(super) static FAMILY: Family = Family {
    name: "django-q-213",
    claim: "a job of a table, marked by an UPDATE after a SELECT has found it free",
    weakness: "the UPDATE does not look whether it still is free",
    source: "django-q up to 0.7.18, https://github.com/Koed00/django-q/pull/213",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    let client = move |context: Context| async move { Ok(Client::lock(Queue::new(&context, fixed)?)) };
    on_postgres(Design::new("", client))
}

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS django_q_ormq (key text PRIMARY KEY, lock bigint NOT NULL)";
const INSERT: &str = "INSERT INTO django_q_ormq (key, lock) VALUES ($1, 0) ON CONFLICT DO NOTHING";
const FREE: &str = "SELECT lock FROM django_q_ormq WHERE key = $1 AND lock < $2";
const MARK: &str = "UPDATE django_q_ormq SET lock = $2 WHERE key = $1";
const MARK_FIXED: &str = "UPDATE django_q_ormq SET lock = $2 WHERE key = $1 AND lock = $3";
/// The job is done, and comes again.
const DONE: &str = "UPDATE django_q_ormq SET lock = 0 WHERE key = $1";

struct Queue {
    rows: Rows,
    fixed: bool,
}

impl Queue {
    fn new(context: &Context, fixed: bool) -> Result<Queue, LockError> {
        Ok(Queue { rows: Rows::new(context, SET_UP)?, fixed })
    }
}

impl Lock for Queue {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let session = self.rows.session().await?;
        let now = (self.rows.host.wall().as_nanos() / 1_000_000) as i64;
        let name = key.as_str();
        let who: Param<'_> = (&name, Type::TEXT);
        session.execute(INSERT, std::slice::from_ref(&who)).await?;
        let free = session.rows(FREE, &[who.clone(), (&now, Type::INT8)]).await?;
        let Some(row) = free.first() else {
            self.rows.keep(session);
            return Ok(None);
        };
        let (seen, until): (i64, i64) = (row.try_get(0)?, now + self.rows.ttl.as_millis() as i64);
        let marked = match self.fixed {
            true => session.execute(MARK_FIXED, &[who, (&until, Type::INT8), (&seen, Type::INT8)]).await?,
            false => session.execute(MARK, &[who, (&until, Type::INT8)]).await?,
        };
        self.rows.keep(session);
        Ok((marked == 1).then(|| Grant::new(key, until.to_string())))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = self.rows.session().await?;
        session.execute(DONE, &[(&grant.key.as_str(), Type::TEXT)]).await?;
        self.rows.keep(session);
        Ok(())
    }
}
