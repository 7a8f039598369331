//! How a client of PostgreSQL waits: for the answer to a statement, and for a lock.
//!
//! A server that lost its power does not say so, also not to a client that waits for an answer: it sends nothing that could be
//! answered by a reset. So a client has a time-out of its own besides those of the server, such as `socketTimeout` of the JDBC driver.
//! Most drivers have none unless one is set.
//!
//! A client that has waited long enough for a lock ends its wait: the server does, by `lock_timeout`, or it asks the server to cancel
//! the statement, or it goes away. A server does not look at the socket of a session that waits, so the last one keeps its place in the
//! queue.
//!
//! *Source:* PostgreSQL 15 documentation, 20.11.1 Statement Behavior (`lock_timeout`), 55.2.8 Canceling Requests in Progress.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_postgres::{Keepalive, Postgres};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use tokio_postgres::Row;

use crate::client::session::{Param as Value, PostgresError, Session};

/// How a client ends its wait for a lock.
pub(super) const GIVE_UP: Param<Word> = Param {
    name: "give_up",
    domain: Word(&["lock-timeout", "cancel", "leave"]),
    default: "lock-timeout",
    doc: "how a client ends its wait for a lock: by `lock_timeout` of the server, by a CancelRequest, or by closing its connection",
};

/// The time-out of a client for the answer to a statement.
pub(super) const CLIENT_TIMEOUT: Param<Word> = Param {
    name: "client_timeout",
    domain: Word(&["on", "none"]),
    default: "on",
    doc: "how long a client waits for an answer: five leases, or for ever",
};

/// When the server looks whether a silent client is still there.
pub(super) const KEEPALIVE: Param<Word> = Param {
    name: "keepalive",
    domain: Word(&["default", "short"]),
    default: "default",
    doc: "when the server gives up a client that is silent: after 7875 s (7200, 75 and 9, as Linux has them), or after two seconds \
          (`tcp_keepalives_idle`, `_interval` and `_count` are 1)",
};

/// A server that looks for silent clients as the parameter says.
pub(super) fn server(args: &Args) -> Postgres {
    let second = Duration::from_secs(1);
    let short = Keepalive { idle: second, interval: second, count: 1, user_timeout: None };
    let keepalive = if args.find(KEEPALIVE) == Some("short") { short } else { Keepalive::default() };
    Postgres { keepalive, ..Postgres::default() }
}

/// The leases of [`CLIENT_TIMEOUT`].
pub(super) const ANSWER_LEASES: u32 = 5;

/// How long a client waits for an answer; none for ever.
pub(super) fn answer_time(args: &Args, ttl: Duration) -> Option<Duration> {
    (args.find(CLIENT_TIMEOUT).unwrap_or(CLIENT_TIMEOUT.default) == "on").then(|| ANSWER_LEASES * ttl)
}

/// How a client waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    give_up: GiveUp,
    /// True if a client has a time-out of its own.
    timed: bool,
}

/// See [`GIVE_UP`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GiveUp {
    LockTimeout,
    Cancel,
    Leave,
}

impl Waiting {
    /// As the parameters give it.
    pub(super) fn of(args: &Args) -> Waiting {
        let give_up = match args.find(GIVE_UP).unwrap_or(GIVE_UP.default) {
            "cancel" => GiveUp::Cancel,
            "leave" => GiveUp::Leave,
            _ => GiveUp::LockTimeout,
        };
        Waiting { give_up, timed: answer_time(args, Duration::ZERO).is_some() }
    }

    /// How long a client waits for an answer; none for ever.
    pub(super) fn answer(self, ttl: Duration) -> Option<Duration> {
        self.timed.then(|| ANSWER_LEASES * ttl)
    }

    /// How long one statement may wait for a lock, of this whole wait. It ends before the client's own time-out: that would end
    /// the connection as well.
    pub(super) fn slice(self, wait: Duration, ttl: Duration) -> Duration {
        self.answer(ttl).map_or(wait, |answer| wait.min(answer - ttl))
    }

    /// The statements that begin a transaction whose statements wait so long for a lock.
    pub(super) fn begin(self, wait: Duration) -> String {
        // Of 0 ms the server thinks that it is for ever.
        let ms = wait.as_millis().max(1);
        match self.give_up {
            GiveUp::LockTimeout => format!("BEGIN; SET LOCAL lock_timeout = {ms}"),
            GiveUp::Cancel | GiveUp::Leave => "BEGIN".to_owned(),
        }
    }

    /// The statement after which those of a session wait so long for a lock; none if nothing is to be said.
    pub(super) fn set(self, wait: Duration) -> Option<String> {
        let ms = wait.as_millis().max(1);
        (self.give_up == GiveUp::LockTimeout).then(|| format!("SET lock_timeout = {ms}"))
    }

    /// Executes a statement that may wait for a lock, for so long: its rows. None: the wait is over.
    ///
    /// # Errors
    /// When the server refused the statement for another reason, or did not answer in time.
    pub(super) async fn lock(
        self,
        (host, session): (&Host, &Session),
        (sql, params): (&str, &[Value<'_>]),
        wait: Duration,
        answer: Option<Duration>,
    ) -> Result<Option<Vec<Row>>, PostgresError> {
        let outcome = match self.give_up {
            GiveUp::LockTimeout => session.query(sql, params, answer.map(|answer| wait + answer)).await,
            GiveUp::Leave => session.query(sql, params, Some(wait)).await,
            GiveUp::Cancel => {
                let span = answer.map(|answer| wait + answer);
                let mut statement = Box::pin(session.query(sql, params, span));
                match host.timeout(wait, statement.as_mut()).await {
                    Ok(outcome) => outcome,
                    Err(_) => {
                        session.cancel().await?;
                        statement.await
                    }
                }
            }
        };
        match outcome {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if error.is_lock_not_available() || error.is_cancelled() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A lock that the server keeps a queue for.
pub(super) trait Queued: Lock {
    /// Waits in the queue for so long. None: that was too short.
    fn wait_for(
        &self,
        key: &Key,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send;

    /// How long one statement may wait, of this whole wait.
    fn slice(&self, wait: Duration) -> Duration;
}

/// Waits in the server's queue. It asks again after an error, and when a statement may wait no longer, as a new one at its end.
pub(super) async fn queue<L: Queued>(
    lock: &L,
    host: &Host,
    key: &Key,
    wait: Duration,
) -> Result<Option<Grant>, LockError> {
    let give_up = host.monotonic() + wait;
    loop {
        let left = give_up.since(host.monotonic());
        host.begin_attempt();
        let outcome = lock.wait_for(key, lock.slice(left)).await;
        match outcome {
            Ok(None) if host.monotonic() < give_up => continue,
            Ok(_) => return outcome,
            Err(_) => {}
        }
        let pause = lock.retry();
        let pause = host.rng().span(pause.min, pause.max);
        if host.monotonic() + pause >= give_up {
            return outcome;
        }
        host.sleep(pause).await;
    }
}
