//! The machine: bytes of sessions in; bytes to sessions, events and a log out. It touches no socket and no clock.
//!
//! Like the backends of PostgreSQL, a session does one thing after another, and reads nothing while it waits for a lock:
//! that its client has gone shows only when it reads or writes next (`client_connection_check_interval = 0`). So a waiter
//! whose client was killed keeps its place in the queue, gets the lock when its turn comes, and gives it back at once.

use std::collections::{BTreeMap, VecDeque};

use picklock_model::time::{Monotonic, WallTime};
use picklock_model::trace::What;
use picklock_sim::host::Origin;

use crate::protocol::{Message, Opening, Severity, SqlError, Value, opening, take, timestamp};
use crate::server::data::{Database, Ended, TxnId};
use crate::server::guarded::{Deed, Guarded, event_of};
use crate::server::journal::Record;
use crate::server::session::{Alarm, Session, Stage, Transaction};
use crate::server::settings::REPORTED;

/// A session by its number, in the order of their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(u64);

/// The clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The wall clock: what `now()` shows.
    pub wall: WallTime,
    /// The monotonic clock: what timeouts follow.
    pub monotonic: Monotonic,
}

/// A message to a session's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// To which session.
    pub session: SessionId,
    /// The message that it answers.
    pub origin: Origin,
    /// The bytes to send; none if the session is only to be looked at again.
    pub bytes: Vec<u8>,
    /// True if the connection is closed after that.
    pub closes: bool,
}

/// The effects of the machine since the last call.
#[derive(Debug, Default)]
pub struct Effects {
    /// The events for the trace, and the message for which each was made.
    pub events: Vec<(Origin, What)>,
    /// The records of commits, to be on disk before anything is delivered.
    pub log: Vec<Record>,
    /// The messages to clients, in order.
    pub deliveries: Vec<Delivery>,
}

/// A PostgreSQL server without sockets and clocks.
pub struct Machine {
    pub(crate) data: Database,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    guarded: Guarded,
    effects: Effects,
    /// The sessions of the transactions under way.
    owners: BTreeMap<TxnId, SessionId>,
    /// Transactions whose wait is over and whose statement has not gone on yet.
    woken: VecDeque<TxnId>,
    last_session: u64,
    last_txn: u64,
}

impl Machine {
    /// A machine with what these records, in order, say that was committed.
    pub fn new(guarded: Guarded, records: impl IntoIterator<Item = Record>) -> Machine {
        let mut data = Database::default();
        for record in records {
            record.restore(&mut data);
        }
        Machine {
            data,
            sessions: BTreeMap::new(),
            guarded,
            effects: Effects::default(),
            owners: BTreeMap::new(),
            woken: VecDeque::new(),
            last_session: 0,
            last_txn: 0,
        }
    }

    /// All that is committed, as records.
    pub fn records(&self) -> Vec<Record> {
        Record::all(&self.data)
    }

    /// A client has connected.
    pub fn connect(&mut self) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let pid = 1_000 + self.last_session as i32;
        // A key that protects nothing: nobody in a simulated world guesses.
        let secret = pid.wrapping_mul(0x5bd1_e995);
        self.sessions.insert(id, Session { pid, secret, ..Session::default() });
        id
    }

    /// A client's connection has ended. A transaction under way is rolled back.
    pub fn disconnect(&mut self, id: SessionId, now: Now) {
        if let Some(session) = self.sessions.get_mut(&id) {
            // Nobody asked for what follows.
            session.origin = Origin::default();
        }
        self.end(id, false);
        self.sessions.remove(&id);
        self.settle(now);
    }

    /// A client has sent something.
    pub fn receive(&mut self, id: SessionId, origin: Origin, bytes: &[u8], now: Now) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.input.extend_from_slice(bytes);
        session.origin = origin;
        self.run(id, now);
        self.settle(now);
    }

    /// True while the session reads nothing, because it waits for a lock.
    #[must_use]
    pub fn is_waiting(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|session| session.waiting.is_some())
    }

    /// When something happens if nobody sends anything.
    #[must_use]
    pub fn deadline(&self) -> Option<Monotonic> {
        self.sessions.values().filter_map(|session| session.alarm()).map(|(at, _)| at).min()
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Now) {
        loop {
            let alarms = self.sessions.iter().filter_map(|(id, session)| {
                let (at, alarm) = session.alarm()?;
                (at <= now.monotonic).then_some((at, alarm, *id))
            });
            let Some((_, alarm, id)) = alarms.min() else { return };
            self.ring(id, alarm, now);
            self.settle(now);
        }
    }

    /// The effects since the last call.
    pub fn take_effects(&mut self) -> Effects {
        std::mem::take(&mut self.effects)
    }

    fn ring(&mut self, id: SessionId, alarm: Alarm, now: Now) {
        let (code, text) = match alarm {
            Alarm::Deadlock => {
                let Some(session) = self.sessions.get_mut(&id) else { return };
                if let Some(waiting) = &mut session.waiting {
                    waiting.checked = true;
                }
                let txn = session.transaction.as_ref().map(|transaction| transaction.id);
                if !txn.is_some_and(|txn| self.data.is_deadlocked(txn)) {
                    return;
                }
                ("40P01", "deadlock detected")
            }
            Alarm::Lock => ("55P03", "canceling statement due to lock timeout"),
            Alarm::Statement => ("57014", "canceling statement due to statement timeout"),
            Alarm::Idle => {
                let text = "terminating connection due to idle-in-transaction timeout";
                self.kill(id, &SqlError::fatal("25P03", text));
                return;
            }
        };
        self.cancel(id, SqlError::new(code, text), now);
    }

    /// Ends the wait of a session with an error.
    fn cancel(&mut self, id: SessionId, error: SqlError, now: Now) {
        if let Some(waiting) = self.sessions.get_mut(&id).and_then(|session| session.waiting.take()) {
            self.fail_job(id, &waiting.job, &error, now);
            self.run(id, now);
            self.look_again(id);
        }
    }

    /// Lets the statements go on whose waits are over.
    fn settle(&mut self, now: Now) {
        while let Some(txn) = self.woken.pop_front() {
            let Some(id) = self.owners.get(&txn).copied() else { continue };
            let Some(waiting) = self.sessions.get_mut(&id).and_then(|session| session.waiting.take()) else {
                continue;
            };
            self.resume(id, waiting, now);
            self.run(id, now);
            self.look_again(id);
        }
    }

    /// Has a session looked at that may read again.
    fn look_again(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get(&id).filter(|session| session.waiting.is_none()) {
            let delivery = Delivery { session: id, origin: session.origin, bytes: Vec::new(), closes: false };
            self.effects.deliveries.push(delivery);
        }
    }

    /// Does what a session was sent, up to the first statement that has to wait.
    pub(crate) fn run(&mut self, id: SessionId, now: Now) {
        while let Some(session) = self.sessions.get_mut(&id).filter(|session| session.waiting.is_none()) {
            let taken = match session.stage {
                Stage::Closed => return,
                Stage::Opening => match opening(&mut session.input) {
                    Ok(Some(opening)) => {
                        self.open(id, opening, now);
                        continue;
                    }
                    Ok(None) => return,
                    Err(error) => Err(error),
                },
                Stage::Open => take(&mut session.input),
            };
            match taken {
                Ok(Some(Message::Terminate)) => self.close(id),
                Ok(Some(message)) => self.handle(id, message, now),
                Ok(None) => return,
                // What cannot be read is the end, whatever it is.
                Err(error) => self.kill(id, &SqlError { severity: Severity::Fatal, ..error }),
            }
        }
    }

    fn open(&mut self, id: SessionId, opening: Opening, now: Now) {
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
                if let Some(target) = target {
                    let text = "canceling statement due to user request";
                    self.cancel(target, SqlError::new("57014", text), now);
                }
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
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let mut user = "";
        for (name, value) in given {
            match name.as_str() {
                "user" => user = value,
                "database" => {}
                "options" if value.is_empty() => {}
                "options" => return Err(SqlError::unsupported("the startup parameter options")),
                "replication" => return Err(SqlError::unsupported("replication")),
                name if name.starts_with("_pq_.") => {}
                name => session.settings.set(name, Some(value))?,
            }
        }
        if user.is_empty() {
            let text = "no PostgreSQL user name specified in startup packet";
            return Err(SqlError::fatal("28000", text));
        }
        session.stage = Stage::Open;
        session.settled = session.settings.clone();
        session.reported_name.clone_from(&session.settings.application_name);
        let replies = &mut session.replies;
        if minor > 0 {
            replies.negotiate_version();
        }
        replies.authentication_ok();
        replies.parameter("application_name", &session.reported_name);
        for (name, value) in REPORTED {
            replies.parameter(name, value);
        }
        replies.parameter("session_authorization", user);
        replies.parameter("TimeZone", "UTC");
        replies.backend_key(session.pid, session.secret);
        replies.ready(b'I');
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

    fn close(&mut self, id: SessionId) {
        self.end(id, false);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stage = Stage::Closed;
            session.idle_since = None;
            let delivery = Delivery { session: id, origin: session.origin, bytes: Vec::new(), closes: true };
            self.effects.deliveries.push(delivery);
        }
    }

    /// The transaction of a session: the one under way, or a new one that ends with the query.
    pub(crate) fn transaction(&mut self, id: SessionId, now: Now) -> Option<&mut Transaction> {
        let session = self.sessions.get_mut(&id)?;
        Some(session.transaction.get_or_insert_with(|| {
            self.last_txn += 1;
            let txn = TxnId(self.last_txn);
            self.owners.insert(txn, id);
            Transaction {
                id: txn,
                began: timestamp(now.wall.as_nanos()),
                block: false,
                failed: false,
                before: session.settled.clone(),
            }
        }))
    }

    /// Ends the transaction of a session, if there is one.
    pub(crate) fn end(&mut self, id: SessionId, commits: bool) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(transaction) = session.transaction.take() else { return };
        let commits = commits && !transaction.failed;
        if !commits {
            session.settled = transaction.before;
        }
        session.settings = session.settled.clone();
        session.portals.clear();
        let origin = session.origin;
        self.owners.remove(&transaction.id);
        let ended = self.data.end(transaction.id, commits);
        self.publish(origin, ended);
    }

    /// Gives up what a failed transaction has made and locked; one that was begun by BEGIN has to be ended all the same.
    pub(crate) fn abort(&mut self, id: SessionId) {
        let block = self.sessions.get(&id).and_then(|session| session.transaction.as_ref());
        let block = block.filter(|transaction| transaction.block).map(|it| (it.id, it.began));
        self.end(id, false);
        if let (Some((txn, began)), Some(session)) = (block, self.sessions.get_mut(&id)) {
            let before = session.settled.clone();
            session.transaction = Some(Transaction { id: txn, began, block: true, failed: true, before });
            self.owners.insert(txn, id);
        }
    }

    /// Makes the end of a transaction known.
    fn publish(&mut self, origin: Origin, ended: Ended) {
        self.effects.log.extend(ended.created.into_iter().map(Record::table));
        for change in ended.changed {
            if let Some(row) = change.values.as_ref().filter(|_| !change.inserted) {
                self.record(origin, &change.row.table, &change.row.key, &Deed::Changed(row));
            }
            self.effects.log.push(Record::row(change.row, change.values));
        }
        for row in ended.unlocked {
            self.record(origin, &row.table, &row.key, &Deed::Unlocked);
        }
        self.woken.extend(ended.woken);
    }

    pub(crate) fn record(&mut self, origin: Origin, table: &str, key: &Value, deed: &Deed<'_>) {
        let Some(schema) = self.data.any_schema(table) else { return };
        if let Some(what) = event_of(&self.guarded, schema, key, deed) {
            self.effects.events.push((origin, what));
        }
    }
}
