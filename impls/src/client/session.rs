//! A session with a PostgreSQL server: tokio-postgres over the streams of a [`Host`].
//!
//! tokio-postgres' own `connect` opens sockets that no simulated world can see; `connect_raw` takes any stream. This
//! module adds what an application adds: a connect with a timeout and a timeout for every statement, by the host's clock.
//!
//! A session that gave up on a statement is of no more use, because its answer may still come: its socket is closed when it
//! is dropped. Any other says goodbye.
//!
//! A client that wants its statement to be cancelled asks for that on a connection of its own ([`Session::cancel`]), as libpq does. The request
//! may come too late, and then it cancels nothing, or the next statement.
//!
//! Prepare statements with their types (`query_typed`) or send them as simple queries: tokio-postgres names those that it
//! prepares by a counter of the whole process, so that messages of one run would be longer for the runs before it.
//!
//! Left out on purpose: TLS, passwords, and reconnecting: a session is a transaction's, and cannot be replaced under it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_postgres::PORT;
use picklock_sim::design::Context;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_sim::store::StoreAddress;
use picklock_sim::task::Task;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, SimpleQueryMessage};

/// The reason why a session or a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// No connection could be made.
    #[error("no connection to the database: {0}")]
    Connect(#[from] io::Error),
    /// The server answered with an error, or the connection broke before it answered.
    #[error("{}", .0.as_db_error().map_or_else(|| .0.to_string(), ToString::to_string))]
    Postgres(#[from] tokio_postgres::Error),
    /// No answer came in time.
    #[error("no answer from the database in time")]
    Late,
    /// The servers that could be reached take no writes.
    #[error("no server takes writes")]
    ReadOnly,
}

impl PostgresError {
    /// True if the server refused to wait for a lock, or to wait any longer.
    #[must_use]
    pub fn is_lock_not_available(&self) -> bool {
        matches!(self, PostgresError::Postgres(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// True if the server has cancelled the statement, because its client asked for that.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, PostgresError::Postgres(error) if error.code() == Some(&SqlState::QUERY_CANCELED))
    }

    /// True if a table of the statement is not there.
    #[must_use]
    pub fn is_undefined_table(&self) -> bool {
        matches!(self, PostgresError::Postgres(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE))
    }

    /// True if a row with the same key is there.
    #[must_use]
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, PostgresError::Postgres(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
    }

    /// True if the server has answered the statement, with an error: what it was asked for was not done. The last word of a session that is
    /// ended answers nothing.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        let PostgresError::Postgres(error) = self else { return false };
        error.as_db_error().is_some_and(|error| error.severity() != "FATAL")
    }
}

/// A parameter of a statement with its type.
pub type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A session with one server.
pub struct Session {
    host: Host,
    /// The host that it is with.
    server: String,
    client: Client,
    driver: Task,
    /// How long an answer may take; none for ever.
    timeout: Option<Duration>,
    /// True if a statement was given up.
    broken: AtomicBool,
}

impl Session {
    /// Connects to a server that takes writes. `timeout` bounds every statement, on the host's clock; without it a client waits for ever.
    ///
    /// # Errors
    /// When none could be reached, or did not answer in time.
    pub async fn open(
        host: &Host,
        servers: &Servers,
        timeout: Option<Duration>,
    ) -> Result<Session, PostgresError> {
        if let [server] = &servers.names[..] {
            return Session::open_one(host, server, timeout, timeout).await;
        }
        let mut failure = PostgresError::Late;
        for server in &servers.names {
            let opened = async {
                let session = Session::open_one(host, server, servers.patience, timeout).await?;
                Ok((session.takes_writes(servers.patience).await?).then_some(session))
            };
            match opened.await {
                Ok(Some(session)) => return Ok(session),
                Ok(None) => failure = PostgresError::ReadOnly,
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Whether the server takes writes: the question of tokio-postgres, and of libpq to servers before 14.
    async fn takes_writes(&self, span: Option<Duration>) -> Result<bool, PostgresError> {
        let rows = self.within(span, self.client.simple_query("SHOW transaction_read_only")).await?;
        let is_off = |message: &SimpleQueryMessage| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("off"));
        Ok(rows.iter().any(is_off))
    }

    /// Connects to the server on the host of this name, within this span.
    async fn open_one(
        host: &Host,
        server: &str,
        span: Option<Duration>,
        timeout: Option<Duration>,
    ) -> Result<Session, PostgresError> {
        let opening = async {
            let stream = host.connect(server, PORT).await?;
            let mut config = Config::new();
            config.user("picklock").dbname("picklock");
            Ok(config.connect_raw(stream, NoTls).await?)
        };
        let opened: Result<_, PostgresError> = match span {
            Some(timeout) => host.timeout(timeout, opening).await.unwrap_or(Err(PostgresError::Late)),
            None => opening.await,
        };
        let (client, connection) = opened?;
        let driver = host.spawn(async move {
            // A connection that breaks shows in the statement that waits for it.
            let _ = connection.await;
        });
        let server = server.to_owned();
        Ok(Session { host: host.clone(), server, client, driver, timeout, broken: AtomicBool::new(false) })
    }

    /// Executes statements without parameters and without results.
    ///
    /// # Errors
    /// When the server refused one, or did not answer in time.
    pub async fn run(&self, sql: &str) -> Result<(), PostgresError> {
        self.within(self.timeout, self.client.batch_execute(sql)).await
    }

    /// Executes one statement: how many rows it has changed.
    ///
    /// # Errors
    /// As [`run`](Session::run).
    pub async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, PostgresError> {
        self.within(self.timeout, self.client.execute_typed(sql, params)).await
    }

    /// Executes one statement, which may take so long, or any time: its rows.
    ///
    /// # Errors
    /// As [`run`](Session::run).
    pub async fn query(
        &self,
        sql: &str,
        params: &[Param<'_>],
        span: Option<Duration>,
    ) -> Result<Vec<Row>, PostgresError> {
        self.within(span, self.client.query_typed(sql, params)).await
    }

    /// Executes one statement: its rows.
    ///
    /// # Errors
    /// As [`run`](Session::run).
    pub async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, PostgresError> {
        self.query(sql, params, self.timeout).await
    }

    /// The host that it is with.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// True if the connection is known to be gone: nothing can be sent on it any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Asks the server to cancel the statement under way. That it was asked does not say that it has done so: the answer of the
    /// statement does.
    ///
    /// # Errors
    /// When the server could not be reached, or not in time.
    pub async fn cancel(&self) -> Result<(), PostgresError> {
        let asking = async {
            let stream = self.host.connect(&self.server, PORT).await?;
            Ok(self.client.cancel_token().cancel_query_raw(stream, NoTls).await?)
        };
        match self.timeout {
            Some(timeout) => self.host.timeout(timeout, asking).await.unwrap_or(Err(PostgresError::Late)),
            None => asking.await,
        }
    }

    /// True unless a statement was given up, or the connection is known to be gone.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && !self.is_closed()
    }

    /// A statement that was given up does not matter.
    pub(crate) fn forget_late(&self) {
        self.broken.store(false, Ordering::Relaxed);
    }

    async fn within<T>(
        &self,
        span: Option<Duration>,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, PostgresError> {
        // Until it is answered: whoever drops this future does not wait for the answer.
        self.broken.store(true, Ordering::Relaxed);
        let answer = match span {
            Some(span) => self.host.timeout(span, statement).await.map_err(|_| PostgresError::Late)?,
            None => statement.await,
        };
        self.broken.store(false, Ordering::Relaxed);
        Ok(answer?)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.broken.load(Ordering::Relaxed) {
            self.driver.abort();
        }
    }
}

/// The hosts of a store, one of which takes writes.
#[derive(Clone, Debug)]
pub struct Servers {
    names: Vec<String>,
    /// How long each of several may take to say whether it does; none for ever.
    patience: Option<Duration>,
}

impl Servers {
    /// Those of the only store of a design. Of several, each has half a lease to say whether it takes writes.
    ///
    /// # Errors
    /// When the design has no such store.
    pub fn of(context: &Context) -> Result<Servers, LockError> {
        let names = match context.stores.first() {
            Some(StoreAddress::Host(name)) => vec![name.clone()],
            Some(StoreAddress::Among(names)) => names.clone(),
            Some(StoreAddress::Ask(_)) => {
                return Err(LockError::new("nobody can be asked where a PostgreSQL server is"));
            }
            None => return Err(LockError::new("the design has no server")),
        };
        Ok(Servers { names, patience: Some(context.ttl / 2) })
    }
}
