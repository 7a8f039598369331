//! The machine: bytes of sessions in; bytes to sessions, events and a log out. It touches no socket and no clock.
//!
//! Like the backends of PostgreSQL, a session does one thing after another, and reads nothing while it waits for a lock:
//! that its client has gone shows only when it reads or writes next (`client_connection_check_interval = 0`). So a waiter
//! whose client was killed keeps its place in the queue, gets the lock when its turn comes, and gives it back at once.

use std::collections::{BTreeMap, VecDeque};

use picklock_model::time::{Monotonic, WallTime};
use picklock_model::trace::What;
use picklock_sim::host::Origin;

use crate::protocol::{Message, Severity, SqlError, opening, take};
use crate::server::data::{Heap, Sequences, Xid};
use crate::server::execute::{Chance, Signal};
use crate::server::guarded::{Guarded, Leases};
use crate::server::keepalive::Keepalive;
use crate::server::locks::{SessionId, Waits, resolve};
use crate::server::pair_state::{Fence, Replicated};
use crate::server::record::Record;
use crate::server::session::{Alarm, Session, Stage};
use crate::server::settings::{Commits, Settings};

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
    /// The records of commits, for the log.
    pub log: Vec<Record>,
    /// The message that brought the last of them about.
    pub log_origin: Origin,
    /// True if the log is to be on disk before anything is delivered.
    pub syncs: bool,
    /// True if it is to be on disk some time later: a commit has been answered that does not wait for that. What belongs to no commit is
    /// not brought there for its own sake.
    pub syncs_later: bool,
    /// True if the server leads from now on.
    pub promoted: bool,
    /// The messages to clients, in order.
    pub deliveries: Vec<Delivery>,
}

/// A PostgreSQL server without sockets and clocks.
pub struct Machine {
    pub(crate) heap: Heap,
    pub(crate) waits: Waits,
    pub(crate) sequences: Sequences,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    /// The sessions by the numbers of their processes.
    pub(crate) pids: BTreeMap<i32, SessionId>,
    pub(crate) guarded: Guarded,
    pub(crate) effects: Effects,
    /// The sessions of the transactions under way.
    pub(crate) owners: BTreeMap<Xid, SessionId>,
    /// Signals that were sent and not handled yet.
    pub(crate) signals: VecDeque<(SessionId, Signal)>,
    /// The clocks as they were when something was done last.
    pub(crate) now: Now,
    pub(crate) leases: Leases,
    /// When it looks whether a silent client is still there, as it is configured.
    pub(crate) keepalive: Keepalive,
    /// The texts of which numbers were made.
    pub(crate) hashed: BTreeMap<i64, String>,
    pub(crate) replicated: Replicated,
    pub(crate) fence: Option<Fence>,
    /// When commits are durable, unless a session says otherwise.
    pub(crate) commits: Commits,
    /// What random numbers come from.
    pub(crate) chance: Chance,
    last_session: u64,
}

impl Machine {
    /// A machine with what these records, in order, say that was committed.
    pub fn new(guarded: Guarded, records: impl IntoIterator<Item = Record>) -> Machine {
        let (mut heap, mut sequences) = (Heap::default(), Sequences::default());
        let mut replicated = Replicated::default();
        for record in records {
            record.restore(&mut heap, &mut sequences);
            replicated.logged += 1;
        }
        Machine {
            heap,
            waits: Waits::default(),
            sequences,
            sessions: BTreeMap::new(),
            pids: BTreeMap::new(),
            guarded,
            effects: Effects::default(),
            owners: BTreeMap::new(),
            signals: VecDeque::new(),
            now: Now::default(),
            leases: Leases::new(),
            keepalive: Keepalive::default(),
            hashed: BTreeMap::new(),
            replicated,
            fence: None,
            commits: Commits::default(),
            chance: Chance::default(),
            last_session: 0,
        }
    }

    /// All that is committed, as records.
    pub fn records(&self) -> Vec<Record> {
        Record::all(&self.heap, &self.sequences)
    }

    /// True if a row of this name is there, and is a lock for as long.
    pub(crate) fn keeps(&self, name: &str) -> bool {
        let mut tables = self.heap.catalogue.committed();
        let Some((schema, mut rows)) = tables.find(|(schema, _)| *schema.name == *self.guarded.locks) else {
            return false;
        };
        rows.any(|(_, row)| schema.name_of(row).is_some_and(|found| found == name))
    }

    /// A client has connected.
    pub fn connect(&mut self) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let pid = 1_000 + self.last_session as i32;
        // A key that protects nothing: nobody in a simulated world guesses.
        let secret = pid.wrapping_mul(0x5bd1_e995);
        let settings = Settings::configured(self.keepalive, self.commits);
        self.sessions.insert(id, Session { pid, secret, settings, ..Session::default() });
        id
    }

    /// A client's connection has ended. A transaction under way is rolled back.
    pub fn disconnect(&mut self, id: SessionId, now: Now) {
        self.now = now;
        if let Some(session) = self.sessions.get_mut(&id) {
            // Nobody asked for what follows.
            session.origin = Origin::default();
        }
        self.leave(id);
        self.sessions.remove(&id);
        self.settle(now);
    }

    /// Ends what a session waits for, its transaction, and its locks.
    pub(super) fn leave(&mut self, id: SessionId) {
        self.waits.leave(id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.waiting = None;
            session.channels.clear();
            self.pids.remove(&session.pid);
        }
        // What is in the log is committed, whoever waits for it.
        let is_logged =
            |session: &Session| session.transaction.as_ref().is_some_and(|it| it.logged.is_some());
        let commits = self.sessions.get(&id).is_some_and(is_logged);
        self.end(id, commits);
        let gone = self.waits.give_back_all(id, &|_| true);
        self.unlocked(id, &gone);
    }

    /// A client has sent something.
    pub fn receive(&mut self, id: SessionId, origin: Origin, bytes: &[u8], now: Now) {
        self.now = now;
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.input.extend_from_slice(bytes);
        session.origin = origin;
        self.run(id, now);
        self.settle(now);
    }

    /// What a standby has sent on its connection, once the session is one of replication.
    pub(crate) fn take_from_standby(&mut self, id: SessionId) -> Option<Vec<u8>> {
        let session = self.sessions.get_mut(&id).filter(|session| session.stage == Stage::Replicating)?;
        Some(std::mem::take(&mut session.input))
    }

    /// True while the session reads nothing, because it waits for a lock.
    #[must_use]
    pub fn is_waiting(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|session| session.waiting.is_some())
    }

    /// When a session that waits looks next whether its client is still there; none if it does not look.
    #[must_use]
    pub fn check_at(&self, id: SessionId, now: impl FnOnce() -> Monotonic) -> Option<Monotonic> {
        let session = self.sessions.get(&id).filter(|_| !self.waits.is_for_copy(id))?;
        let (began, interval) = (session.waiting.as_ref()?.began, session.settings.check_interval()?);
        let passed = now().since(began).as_nanos() / interval.as_nanos().max(1);
        let next = u32::try_from(passed + 1).ok()?;
        Some(began + interval.checked_mul(next)?)
    }

    /// When a session looks whether its client is still there.
    pub(crate) fn keepalive_of(&self, id: SessionId) -> Keepalive {
        self.sessions.get(&id).map_or(self.keepalive, |session| session.settings.keepalive)
    }

    /// What happens to sessions if nothing else does. No timeout ends the wait for a standby.
    fn alarms(&self) -> impl Iterator<Item = (Monotonic, Alarm, SessionId)> {
        let timed = self.sessions.iter().filter(|(id, _)| !self.waits.is_for_copy(**id));
        timed.filter_map(|(id, session)| session.alarm().map(|(at, alarm)| (at, alarm, *id)))
    }

    /// When something happens if nobody sends anything.
    #[must_use]
    pub fn deadline(&self) -> Option<Monotonic> {
        let alarms = self.alarms().map(|(at, ..)| at);
        alarms.chain(self.next_lease_end()).chain(self.fenced_at()).min()
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Now) {
        self.now = now;
        self.expire_leases();
        loop {
            let alarms = self.alarms().filter(|(at, ..)| *at <= now.monotonic);
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
                let (heap, owners) = (&self.heap, &self.owners);
                let owner = |xid| heap.top(xid).and_then(|top| owners.get(&top).copied());
                if resolve(&mut self.waits, id, &owner) {
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
            Alarm::IdleSession => {
                let text = "terminating connection due to idle-session timeout";
                self.kill(id, &SqlError::fatal("57P05", text));
                return;
            }
        };
        self.cancel(id, &SqlError::new(code, text), now);
    }

    /// Ends the wait of a session with an error.
    fn cancel(&mut self, id: SessionId, error: &SqlError, now: Now) {
        if self.waits.is_for_copy(id) {
            return self.stop_awaiting(id, now);
        }
        if let Some(waiting) = self.sessions.get_mut(&id).and_then(|session| session.waiting.take()) {
            self.waits.leave(id);
            self.fail_job(id, &waiting.job, error, now);
            self.run(id, now);
            self.look_again(id);
        }
    }

    /// Lets the statements go on whose waits are over, and handles signals.
    pub(crate) fn settle(&mut self, now: Now) {
        loop {
            if let Some((id, signal)) = self.signals.pop_front() {
                match signal {
                    Signal::Cancel => self.cancel(id, &canceled(), now),
                    Signal::Terminate => self.terminate(id),
                }
            } else if let Some(id) = self.waits.next_woken() {
                let waiting = self.sessions.get_mut(&id).and_then(|session| session.waiting.take());
                let Some(waiting) = waiting else { continue };
                self.resume(id, waiting, now);
                self.run(id, now);
                self.look_again(id);
            } else {
                return;
            }
        }
    }

    /// Ends a session by a signal.
    pub(crate) fn terminate(&mut self, id: SessionId) {
        if self.waits.is_for_copy(id) {
            self.notify_client(id, &[ended_waiting()]);
            return self.close(id);
        }
        let waiting = self.sessions.get_mut(&id).and_then(|session| session.waiting.take());
        if let Some(waiting) = waiting {
            self.send_found(id, &waiting.job);
        }
        self.waits.leave(id);
        self.kill(id, &terminated());
    }

    /// Has a session looked at that may read again.
    pub(crate) fn look_again(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get(&id).filter(|session| session.waiting.is_none()) {
            let delivery = Delivery { session: id, origin: session.origin, bytes: Vec::new(), closes: false };
            self.effects.deliveries.push(delivery);
        }
    }

    /// Does what a session was sent, up to the first statement that has to wait.
    pub(crate) fn run(&mut self, id: SessionId, now: Now) {
        while let Some(session) = self.sessions.get_mut(&id).filter(|session| session.waiting.is_none()) {
            let taken = match session.stage {
                Stage::Closed | Stage::Replicating => return,
                Stage::Opening => match opening(&mut session.input) {
                    Ok(Some(opening)) => {
                        self.open(id, opening);
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
}

/// The error of a statement that another session ended.
pub(crate) fn canceled() -> SqlError {
    SqlError::new("57014", "canceling statement due to user request")
}

/// The error of a session that another session ended.
pub(crate) fn terminated() -> SqlError {
    SqlError::fatal("57P01", "terminating connection due to administrator command")
}

/// The warning to a session whose transaction is committed here, and perhaps nowhere else.
pub(crate) fn only_here(code: &'static str, text: &str) -> SqlError {
    let detail =
        "The transaction has already committed locally, but might not have been replicated to the standby.";
    SqlError::warning(code, text).with_detail(detail.to_owned())
}

/// What a session is sent that was ended while its commit waited.
pub(crate) fn ended_waiting() -> SqlError {
    let text = "canceling the wait for synchronous replication and terminating connection due to administrator command";
    only_here("57P01", text)
}
