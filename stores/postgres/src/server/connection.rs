//! The beginning of a session and its end.

use crate::protocol::{Opening, Severity, SqlError};
use crate::server::execute::Signal;
use crate::server::locks::SessionId;
use crate::server::machine::{Delivery, Machine};
use crate::server::session::{Session, Stage};
use crate::server::settings::REPORTED;

impl Machine {
    pub(super) fn open(&mut self, id: SessionId, opening: Opening) {
        match opening {
            Opening::Encryption => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.replies.0.push(b'N');
                }
                self.flush(id);
            }
            Opening::Cancel { pid, secret } => {
                let asked = |session: &&Session| session.pid == pid && session.secret == secret;
                let target = self.sessions.iter().find(|(_, session)| asked(session)).map(|(id, _)| *id);
                self.signals.extend(target.map(|target| (target, Signal::Cancel)));
                self.close(id);
            }
            Opening::Startup { minor, parameters } => {
                if let Err(error) = self.start(id, minor, &parameters) {
                    self.kill(id, &SqlError { severity: Severity::Fatal, ..error });
                }
            }
        }
    }

    /// Begins a session. Whoever comes is believed, whatever database they name (`trust`).
    fn start(&mut self, id: SessionId, minor: u16, given: &[(String, String)]) -> Result<(), SqlError> {
        if self.is_fenced() {
            return Err(SqlError::fatal("57P03", "the database system is not accepting connections"));
        }
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let (mut user, mut replicates) = ("", false);
        for (name, value) in given {
            match name.as_str() {
                "user" => user = value,
                "database" => {}
                "options" if value.is_empty() => {}
                "options" => return Err(SqlError::unsupported("the startup parameter options")),
                "replication" => replicates = value == "true",
                name if name.starts_with("_pq_.") => {}
                name => session.settings.set(name, Some(value))?,
            }
        }
        if user.is_empty() {
            let text = "no PostgreSQL user name specified in startup packet";
            return Err(SqlError::fatal("28000", text));
        }
        session.stage = if replicates { Stage::Replicating } else { Stage::Open };
        session.settled = session.settings.clone();
        session.given_settings = Some(session.settings.clone());
        session.reported_name.clone_from(&session.settings.application_name);
        let replies = &mut session.replies;
        if minor > 0 {
            replies.negotiate_version();
        }
        replies.authentication_ok();
        replies.parameter("application_name", &session.reported_name);
        session.reported_recovery = self.replicated.in_recovery;
        for (name, value) in REPORTED {
            let in_recovery = name == "in_hot_standby" && session.reported_recovery;
            replies.parameter(name, if in_recovery { "on" } else { value });
        }
        replies.parameter("session_authorization", user);
        replies.parameter("TimeZone", "UTC");
        replies.backend_key(session.pid, session.secret);
        replies.ready(b'I');
        self.pids.insert(session.pid, id);
        self.flush(id);
        Ok(())
    }

    /// Sends what the session has answered so far.
    pub(crate) fn flush(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id)
            && !session.replies.0.is_empty()
        {
            let bytes = std::mem::take(&mut session.replies.0);
            let delivery = Delivery { session: id, origin: session.origin, bytes, closes: false };
            self.effects.deliveries.push(delivery);
        }
    }

    /// Ends a session with a last word.
    pub(crate) fn kill(&mut self, id: SessionId, error: &SqlError) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.replies.error(error);
        }
        self.flush(id);
        self.close(id);
    }

    pub(super) fn close(&mut self, id: SessionId) {
        self.leave(id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stage = Stage::Closed;
            session.idle_since = None;
            let delivery = Delivery { session: id, origin: session.origin, bytes: Vec::new(), closes: true };
            self.effects.deliveries.push(delivery);
        }
    }
}
