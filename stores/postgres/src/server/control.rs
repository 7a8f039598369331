//! The statements about a session or its transaction.

use crate::protocol::{SqlError, Value};
use crate::server::locks::{Scope, SessionId};
use crate::server::machine::{Machine, Now};
use crate::server::session::{Post, Savepoint, Session, Transaction};
use crate::server::settings::Settings;
use crate::server::sql::{Isolation, Statement};

/// The tag of a completion, and the rows of a result.
type Outcome = Result<(String, Vec<Vec<Value>>), SqlError>;

fn done(tag: &str) -> Outcome {
    Ok((tag.to_owned(), Vec::new()))
}

impl Machine {
    fn session_mut(&mut self, id: SessionId) -> Result<&mut Session, SqlError> {
        self.sessions.get_mut(&id).ok_or_else(|| SqlError::protocol("the session is gone"))
    }

    /// Warns a session.
    fn warn(&mut self, id: SessionId, code: &'static str, text: &str) {
        self.notify_client(id, &[SqlError::warning(code, text)]);
    }

    /// Sends a session notices, with all that was not sent before: PostgreSQL does not keep them back.
    pub(crate) fn notify_client(&mut self, id: SessionId, notices: &[SqlError]) {
        if let Some(session) = self.sessions.get_mut(&id).filter(|_| !notices.is_empty()) {
            notices.iter().for_each(|notice| session.replies.error(notice));
            self.flush(id);
        }
    }

    /// The transaction that was begun by BEGIN; an error for a statement that needs one.
    fn block(&mut self, id: SessionId, what: &str) -> Result<&mut Transaction, SqlError> {
        let text = || format!("{what} can only be used in transaction blocks");
        let transaction = self.session_mut(id)?.transaction.as_mut();
        transaction.filter(|transaction| transaction.block).ok_or_else(|| SqlError::new("25P01", text()))
    }

    /// Carries such a statement out: its tag and its result.
    pub(crate) fn control(&mut self, id: SessionId, statement: &Statement, now: Now) -> Outcome {
        let on_standby = if self.replicated.in_recovery { "on" } else { "off" };
        let session = self.session_mut(id)?;
        let in_block = session.transaction.as_ref().is_some_and(|it| it.block);
        match statement {
            Statement::Begin { tag, isolation } => {
                if in_block {
                    self.warn(id, "25001", "there is already a transaction in progress");
                } else if let Some(transaction) = self.transaction(id, now) {
                    transaction.block = true;
                }
                if let Some(isolation) = isolation {
                    self.isolate(id, *isolation)?;
                }
                done(tag)
            }
            Statement::Commit | Statement::Rollback => {
                let failed = session.has_failed();
                if !in_block {
                    self.warn(id, "25P01", "there is no transaction in progress");
                }
                let commits = *statement == Statement::Commit && !failed;
                self.end(id, commits);
                done(if commits { "COMMIT" } else { "ROLLBACK" })
            }
            Statement::Savepoint(name) => self.savepoint(id, name),
            Statement::Release(name) => {
                let at = self.find_savepoint(id, name, "RELEASE SAVEPOINT")?;
                self.block(id, "RELEASE SAVEPOINT")?.savepoints.truncate(at);
                done("RELEASE")
            }
            Statement::RollbackTo(name) => {
                let at = self.find_savepoint(id, name, "ROLLBACK TO SAVEPOINT")?;
                self.back_to(id, at);
                done("ROLLBACK")
            }
            Statement::SetTransaction(isolation) => {
                if in_block {
                    self.isolate(id, *isolation)?;
                } else {
                    self.warn(id, "25P01", "SET TRANSACTION can only be used in transaction blocks");
                }
                done("SET")
            }
            Statement::Set { local, name, value } => {
                if *local && !in_block {
                    self.warn(id, "25P01", "SET LOCAL can only be used in transaction blocks");
                }
                self.set(id, name, value.as_deref(), *local)?;
                done("SET")
            }
            Statement::Reset(name) => {
                match name {
                    Some(name) => self.set(id, name, None, false)?,
                    None => self.reset(id)?,
                }
                done("RESET")
            }
            Statement::Show(name) => {
                let isolation = session.transaction.as_ref().map(|it| it.isolation);
                let isolation = isolation.unwrap_or(session.settings.isolation);
                let shown = match name.as_str() {
                    "transaction_read_only" | "in_hot_standby" => on_standby.to_owned(),
                    "transaction_isolation" => isolation.name().to_owned(),
                    name => session.settings.show(name)?,
                };
                Ok(("SHOW".to_owned(), vec![vec![Value::Text(shown)]]))
            }
            Statement::Listen(channel) => self.send(id, Post::Listen(channel.clone()), now, "LISTEN"),
            Statement::Unlisten(channel) => self.send(id, Post::Unlisten(channel.clone()), now, "UNLISTEN"),
            Statement::Notify { channel, payload } => {
                if payload.len() > 7_999 {
                    return Err(SqlError::new("22023", "payload string too long"));
                }
                let post = Post::Notify { channel: channel.clone(), payload: payload.clone() };
                self.send(id, post, now, "NOTIFY")
            }
            Statement::CloseAll => {
                session.portals.clear();
                done("CLOSE CURSOR ALL")
            }
            Statement::Deallocate(None) => {
                session.statements.retain(|name, _| name.is_empty());
                done("DEALLOCATE ALL")
            }
            Statement::Deallocate(Some(name)) => {
                let text = || format!("prepared statement \"{name}\" does not exist");
                session.statements.remove(name).ok_or_else(|| SqlError::new("26000", text()))?;
                done("DEALLOCATE")
            }
            Statement::DiscardAll => self.discard(id, in_block),
            _ => Err(SqlError::unsupported("this statement")),
        }
    }

    fn savepoint(&mut self, id: SessionId, name: &str) -> Outcome {
        self.block(id, "SAVEPOINT")?;
        let Some(xid) = self.begin_part(id) else { return done("SAVEPOINT") };
        let session = self.session_mut(id)?;
        let (settings, settled) = (session.settings.clone(), session.settled.clone());
        let savepoint = Savepoint { name: name.to_owned(), xid, settings, settled };
        if let Some(transaction) = &mut session.transaction {
            transaction.savepoints.push(savepoint);
        }
        done("SAVEPOINT")
    }

    /// The last savepoint of this name.
    fn find_savepoint(&mut self, id: SessionId, name: &str, what: &str) -> Result<usize, SqlError> {
        let savepoints = &self.block(id, what)?.savepoints;
        let found = savepoints.iter().rposition(|savepoint| savepoint.name == name);
        found.ok_or_else(|| SqlError::new("3B001", format!("savepoint \"{name}\" does not exist")))
    }

    fn isolate(&mut self, id: SessionId, isolation: Isolation) -> Result<(), SqlError> {
        if isolation == Isolation::Serializable && self.replicated.in_recovery {
            return Err(SqlError::new("0A000", "cannot use serializable mode in a hot standby"));
        }
        let transaction = self.block(id, "SET TRANSACTION")?;
        if transaction.isolation != isolation {
            if transaction.looked {
                let text = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
                return Err(SqlError::new("25001", text));
            }
            if !transaction.savepoints.is_empty() {
                let text = "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction";
                return Err(SqlError::new("25001", text));
            }
            transaction.isolation = isolation;
        }
        Ok(())
    }

    fn set(&mut self, id: SessionId, name: &str, value: Option<&str>, local: bool) -> Result<(), SqlError> {
        let session = self.session_mut(id)?;
        session.settings.set(name, value)?;
        if !local {
            session.settled.set(name, value)?;
        }
        Ok(())
    }

    /// Sets all parameters back to those with which the session began.
    fn reset(&mut self, id: SessionId) -> Result<(), SqlError> {
        let session = self.session_mut(id)?;
        session.settings = session.given_settings.clone().unwrap_or_else(Settings::default);
        session.settled = session.settings.clone();
        Ok(())
    }

    fn send(&mut self, id: SessionId, post: Post, now: Now, tag: &str) -> Outcome {
        if let Some(transaction) = self.transaction(id, now) {
            let xid = transaction.actor().xid;
            transaction.posts.push((xid, post));
        }
        done(tag)
    }

    fn discard(&mut self, id: SessionId, in_block: bool) -> Outcome {
        if in_block {
            return Err(SqlError::new("25001", "DISCARD ALL cannot run inside a transaction block"));
        }
        self.reset(id)?;
        let session = self.session_mut(id)?;
        session.portals.clear();
        session.statements.clear();
        session.channels.clear();
        session.given.clear();
        session.last_given = None;
        let gone = self.waits.give_back_all(id, &|scope| scope == Scope::Session);
        self.unlocked(id, &gone);
        done("DISCARD ALL")
    }
}
