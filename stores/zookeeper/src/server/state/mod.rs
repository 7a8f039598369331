//! The state that the log of ZooKeeper is about: nodes and sessions, alike on every member, and beside them what one member alone has: the connections of
//! its clients, what they watch and wait for, and, on the one that leads, when sessions run out.

mod changes;
mod connections;
mod locks;
mod nodes;
mod notes;
mod paths;
mod reads;
mod rights;
mod saved;
mod sessions;
#[cfg(test)]
mod tests;
mod tree;
mod watches;

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::{Monotonic, nanos};
use picklock_model::trace::What;
use picklock_raft::{Applied, MemberId, Role, State};
use picklock_sim::host::{Host, Origin};
use tokio::sync::{mpsc, oneshot};

use crate::jute::Record as _;
use crate::messages::{error, opcode};
use crate::version::Version;
use connections::NO_ZXID;
pub(crate) use connections::{Connections, Outgoing, reply};
use locks::{Cause, Locks};
pub(crate) use notes::{
    CREATE_SESSION, Command, DELETE_CONTAINER, Note, Place, Report, Revalidate, Revalidated, Touch,
};
pub(crate) use rights::are_modelled;
use sessions::{Refused, Sessions};
use tree::{Change, Tree};

/// The file that says up to which entry the simulator has heard of locks, so that a restart does not report them once more.
const REPORTED: &str = "reported-to-the-simulator";

/// There is no such session: an error that only members see.
const UNKNOWN_SESSION: i32 = -12;

/// The number of a member for what it says to itself.
pub(crate) const MYSELF: MemberId = 0;

/// Whether the member takes requests of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serving {
    /// It follows nobody, or has not heard from its leader how far it has to be.
    No,
    /// Once so much is applied.
    From(u64),
    Yes,
}

/// What another member has said, for whoever may have changes appended.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) origin: Origin,
    pub(crate) from: MemberId,
    pub(crate) note: Note,
}

/// The fixed facts of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The number of its server (`myid`).
    pub(crate) server: i64,
    /// True if it is the only one: then transactions have no epochs.
    pub(crate) alone: bool,
    pub(crate) tick: Duration,
    pub(crate) version: Version,
}

/// The state of a member.
pub(crate) struct Machine {
    facts: Facts,
    pub(crate) tree: Tree,
    /// The sessions with their times, in milliseconds.
    pub(crate) sessions: BTreeMap<i64, i32>,
    /// The last transaction.
    pub(crate) zxid: i64,
    locks: Locks,
    /// Up to this entry the simulator has heard of locks.
    reported: u64,
    pub(crate) applied: u64,
    term: u64,
    leads: bool,
    leader: Option<MemberId>,
    /// Of the member that leads.
    kept: Option<Sessions>,
    serving: Serving,
    /// The sessions that were heard of since the leader was last notified: their times, and when.
    touched: BTreeMap<i64, (i32, Monotonic)>,
    pub(crate) connections: Connections,
    /// Those who wait until so much is applied.
    until: Vec<(u64, oneshot::Sender<()>)>,
    /// Those who wait for the leader's answer to a question: a place in the log, or 1 for yes and 0 for no.
    asked: BTreeMap<i64, oneshot::Sender<i64>>,
    last_question: i64,
    next_session: i64,
    heard: mpsc::UnboundedSender<Heard>,
}

impl Machine {
    pub(crate) fn new(host: &Host, facts: Facts) -> (Machine, mpsc::UnboundedReceiver<Heard>) {
        let (heard, notes) = mpsc::unbounded_channel();
        let reported = host.disk().read(REPORTED).try_into().map_or(0, u64::from_le_bytes);
        // The time that the machine has been up, as the real one counts it.
        let up = host.monotonic().as_millis() + host.rng().below(1 << 30);
        let first_request = (facts.server << 48) | host.rng().below(1 << 40) as i64;
        let machine = Machine {
            facts,
            tree: Tree::default(),
            sessions: BTreeMap::new(),
            zxid: 0,
            locks: Locks::default(),
            reported,
            applied: 0,
            term: 0,
            leads: false,
            leader: None,
            kept: None,
            serving: Serving::No,
            touched: BTreeMap::new(),
            connections: Connections::new(first_request, facts.version),
            until: Vec::new(),
            asked: BTreeMap::new(),
            last_question: 0,
            next_session: (facts.server << 56) | ((up << 24) >> 8) as i64,
            heard,
        };
        (machine, notes)
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.serving == Serving::Yes
    }

    /// True if it leads, and has everything that was there before it did.
    pub(crate) fn leads(&self) -> bool {
        self.kept.is_some()
    }

    pub(crate) fn leader(&self) -> Option<MemberId> {
        self.leader
    }

    pub(crate) fn version(&self) -> Version {
        self.facts.version
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.facts.alone
    }

    /// A number for a new session: of the server, of the time when it was started, and counted on.
    pub(crate) fn new_session(&mut self) -> i64 {
        self.next_session += 1;
        self.next_session - 1
    }

    /// A client was heard of: the leader notes it, and other members notify the leader.
    pub(crate) fn touch(
        &mut self,
        host: &Host,
        by: Origin,
        (session, timeout): (i64, i32),
        is_sign_of_life: bool,
    ) {
        let now = host.monotonic();
        let Some(kept) = &mut self.kept else {
            self.touched.insert(session, (timeout, now));
            return;
        };
        if kept.touch(session, milliseconds(timeout), now, now) && is_sign_of_life {
            for (origin, key) in self.locks.of_session(&self.tree, session, by) {
                host.record(origin, What::Extended { key });
            }
        }
    }

    /// A client resumes a session through this member. False if the session is over.
    pub(crate) fn revalidate(
        &mut self,
        session: i64,
        timeout: i32,
        member: MemberId,
        now: Monotonic,
    ) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        let is_valid = kept.touch(session, milliseconds(timeout), now, now);
        if is_valid {
            kept.move_to(session, member);
        }
        is_valid
    }

    /// As the leader, looks at a request before it goes to the log. False if this member does not lead.
    pub(crate) fn take_on(
        &mut self,
        command: &mut Command,
        from: MemberId,
        (now, wall): (Monotonic, i64),
    ) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        command.time = wall;
        match command.opcode {
            CREATE_SESSION => {
                let timeout = command.record.as_deref().and_then(|record| i32::whole(record).ok());
                kept.add(command.session, milliseconds(timeout.unwrap_or_default()), now);
                kept.move_to(command.session, from);
            }
            opcode::CLOSE_SESSION => kept.close(command.session),
            DELETE_CONTAINER => {}
            _ => {
                command.error = match kept.check(command.session, from) {
                    Ok(()) => error::OK,
                    Err(Refused::Moved) => error::SESSION_MOVED,
                    Err(Refused::Expired) => error::SESSION_EXPIRED,
                    Err(Refused::Unknown) if command.makes_ephemeral() => error::SESSION_EXPIRED,
                    Err(Refused::Unknown) => UNKNOWN_SESSION,
                };
            }
        }
        true
    }

    /// The sessions that have run out, as the leader counts, and for how long they have.
    pub(crate) fn run_out(&mut self, now: Monotonic) -> Vec<(i64, Duration)> {
        self.kept.as_mut().map_or_else(Vec::new, |leading| leading.run_out(now))
    }

    /// Waits for the leader's answer to a question.
    pub(crate) fn ask(&mut self) -> (i64, oneshot::Receiver<i64>) {
        let (sender, answer) = oneshot::channel();
        self.last_question += 1;
        self.asked.insert(self.last_question, sender);
        (self.last_question, answer)
    }

    fn answered(&mut self, number: i64, answer: i64) {
        if let Some(asked) = self.asked.remove(&number) {
            // Who asked may be gone.
            let _ = asked.send(answer);
        }
    }

    /// Waits until so much is applied.
    pub(crate) fn wait_until(&mut self, index: u64) -> oneshot::Receiver<()> {
        let (sender, done) = oneshot::channel();
        self.until.push((index, sender));
        self.catch_up();
        done
    }

    /// Does what waits until so much is applied.
    fn catch_up(&mut self) {
        if matches!(self.serving, Serving::From(index) if index <= self.applied) {
            self.serving = Serving::Yes;
        }
        let applied = self.applied;
        for (_, done) in self.until.extract_if(.., |(index, _)| *index <= applied) {
            // Who waited may be gone.
            let _ = done.send(());
        }
    }

    /// Takes no more requests: clients have to look for another member.
    fn stop_serving(&mut self) {
        self.serving = Serving::No;
        self.connections.close_all();
        self.touched.clear();
        self.until.clear();
        self.asked.clear();
    }

    /// Has everybody know what an entry has changed.
    fn make_known(&mut self, host: &Host, (index, by): (u64, Cause), changes: &[Change]) {
        let said = self.locks.after(&self.tree, changes, by);
        self.report(host, index, said);
        let zxid = if self.facts.version == Version::V39 { self.zxid } else { NO_ZXID };
        self.connections.notify((by.origin, zxid), changes);
    }

    fn report(&mut self, host: &Host, index: u64, said: Vec<(Origin, What)>) {
        if index > self.reported && !said.is_empty() {
            said.into_iter().for_each(|(origin, what)| host.record(origin, what));
            self.reported = index;
            host.disk().write(REPORTED, &index.to_le_bytes());
            host.disk().sync(REPORTED);
        }
    }
}

/// A number of milliseconds of the protocol.
fn milliseconds(number: i32) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or_default())
}

impl State for Machine {
    fn apply(&mut self, host: &Host, applied: Applied<'_>) {
        self.applied = applied.index;
        match applied.data {
            // The first entry of a leader: it has all earlier ones, and begins a new epoch.
            None => {
                if !self.facts.alone {
                    self.zxid = (applied.term as i64) << 32;
                }
                if self.leads && applied.term == self.term {
                    host.record(Origin::default(), What::BecameLeader);
                    let sessions = self.sessions.iter().map(|(id, timeout)| (*id, milliseconds(*timeout)));
                    self.kept = Some(Sessions::new(self.facts.tick, sessions, host.monotonic()));
                    self.serving = Serving::From(self.applied);
                } else if self.leader.is_some() && self.serving == Serving::No {
                    // The leader can be followed from now on.
                    let joins = Note::Report(Report { joins: true, touched: Vec::new() });
                    let _ = self.heard.send(Heard { origin: applied.origin, from: MYSELF, note: joins });
                }
            }
            // What cannot be read was written by nobody.
            Some(data) => {
                if let Ok(command) = Command::whole(data) {
                    self.carry_out(host, (applied.index, applied.origin), &command);
                }
            }
        }
        self.catch_up();
    }

    fn turns(&mut self, host: &Host, role: Role, term: u64) {
        self.term = term;
        let leads = role == Role::Leader;
        if !leads && self.kept.is_some() {
            host.record(Origin::default(), What::StoppedLeading);
        }
        self.leads = leads;
        if !leads {
            self.kept = None;
        }
    }

    fn restore(&mut self, host: &Host, index: u64, state: &[u8]) {
        let Some((zxid, tree, sessions)) = saved::read(state) else { return };
        self.stop_serving();
        (self.zxid, self.tree, self.sessions, self.applied) = (zxid, tree, sessions, index);
        let said = self.locks.anew(&self.tree);
        self.report(host, index, said);
    }

    fn save(&self) -> Vec<u8> {
        saved::written(self.zxid, &self.tree, &self.sessions)
    }

    fn follows(&mut self, _: &Host, leader: Option<MemberId>) {
        self.leader = leader;
        self.stop_serving();
    }

    fn reports(&mut self, host: &Host) -> Vec<u8> {
        let joins = self.serving == Serving::No;
        if self.leads || (!joins && self.touched.is_empty()) {
            return Vec::new();
        }
        let now = host.monotonic();
        let touched = std::mem::take(&mut self.touched).into_iter();
        let touched = touched.map(|(session, (timeout, heard))| Touch {
            session,
            timeout,
            age_ns: nanos(now.since(heard)) as i64,
        });
        Note::Report(Report { joins, touched: touched.collect() }).bytes()
    }

    fn hears(&mut self, host: &Host, origin: Origin, from: MemberId, said: &[u8]) {
        let Ok(mut note) = Note::whole(said) else { return };
        match &mut note {
            Note::Joined(index) if self.serving == Serving::No && self.leader == Some(from) => {
                self.serving = Serving::From(u64::try_from(*index).unwrap_or_default());
                return self.catch_up();
            }
            Note::Synced(Place { number, index }) => return self.answered(*number, *index),
            Note::Revalidated(Revalidated { number, valid }) => {
                return self.answered(*number, i64::from(*valid));
            }
            Note::Report(Report { touched, .. }) => {
                let now = host.monotonic();
                let Some(kept) = &mut self.kept else { return };
                for Touch { session, timeout, age_ns } in touched.drain(..) {
                    let age = Duration::from_nanos(u64::try_from(age_ns).unwrap_or_default());
                    let heard = Monotonic(now.0.saturating_sub(nanos(age)));
                    kept.touch(session, milliseconds(timeout), heard, now);
                }
            }
            _ => {}
        }
        // The member that hears it goes on for as long as the state does.
        let _ = self.heard.send(Heard { origin, from, note });
    }
}
