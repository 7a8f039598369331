//! The sessions of a client with a PostgreSQL store that are free: a statement that is a transaction of its own takes one of them, or a
//! new one.
//!
//! Left out on purpose: a bound on their number, their age, and a test before use. A session that is known to be gone, or of which a
//! statement was given up, does not come back.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::design::Context;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;

use super::session::{PostgresError, Servers, Session};

/// The free sessions of a client.
pub(crate) struct Pool {
    host: Host,
    servers: Servers,
    /// How long an answer may take; none for ever.
    timeout: Option<Duration>,
    free: Mutex<Vec<Session>>,
}

impl Pool {
    /// A pool without sessions, for the only store of a design.
    ///
    /// # Errors
    /// When the design has no such store.
    pub(crate) fn new(context: &Context, timeout: Option<Duration>) -> Result<Pool, LockError> {
        let servers = Servers::of(context)?;
        Ok(Pool { host: context.host.clone(), servers, timeout, free: Mutex::default() })
    }

    /// The session that was used last, or a new one.
    ///
    /// # Errors
    /// When the server could not be reached, or did not answer in time.
    pub(crate) async fn take(&self) -> Result<Session, PostgresError> {
        let free = self.free().pop();
        match free.filter(Session::is_usable) {
            Some(session) => Ok(session),
            None => Session::open(&self.host, &self.servers, self.timeout).await,
        }
    }

    /// Gives a session back.
    pub(crate) fn put(&self, session: Session) {
        if session.is_usable() {
            self.free().push(session);
        }
    }

    /// Gives a session back of which a statement was given up: its answer is not waited for, and what it did stays done.
    pub(crate) fn put_late(&self, session: Session) {
        session.forget_late();
        self.put(session);
    }

    fn free(&self) -> MutexGuard<'_, Vec<Session>> {
        self.free.lock().expect("nothing panics while it holds this lock")
    }
}
