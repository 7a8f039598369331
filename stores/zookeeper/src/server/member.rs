//! The work of a member beside its log: requests reach the leader, which looks at their sessions first, and sessions that run out are ended.
//!
//! *Source:* `LeaderZooKeeperServer`, `LearnerHandler`, `ContainerManager` of ZooKeeper 3.8.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::nanos;
use picklock_raft::{MemberId, Replica};
use picklock_sim::host::{Host, Origin};
use tokio::sync::{mpsc, oneshot};

use super::state::{Command, DELETE_CONTAINER, Heard, MYSELF, Machine, Note, Place, Revalidate, Revalidated};
use crate::jute::Record as _;
use crate::messages::opcode;

/// How often the leader looks for containers that have no children any more.
const CONTAINERS: Duration = Duration::from_secs(60);

/// A snapshot is made after so many entries (`snapCount`).
const LONGEST_LOG: u64 = 100_000;

/// A member.
pub(crate) struct Member {
    pub(crate) host: Host,
    pub(crate) id: MemberId,
    pub(crate) tick: Duration,
    pub(crate) replica: Arc<Replica<Machine>>,
}

/// What is asked for as a change.
pub(crate) struct Asked {
    pub(crate) session: i64,
    pub(crate) opcode: i32,
    pub(crate) record: Vec<u8>,
}

impl Member {
    /// Looks at the state, and may change it in what no other member has.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Machine) -> T) -> T {
        self.replica.with(|_, machine| look(machine))
    }

    /// Has a change made, and reports when it is: its answer goes to the connection, with the client's number. Nothing comes if the member has lost
    /// its leader meanwhile.
    pub(crate) fn ask(&self, origin: Origin, to: Option<(u64, i32)>, asked: Asked) -> oneshot::Receiver<()> {
        let Asked { session, opcode, record } = asked;
        let (request, done) = self.with(|machine| machine.connections.expect(to));
        let command =
            Command { request, session, time: 0, error: 0, overdue_ns: -1, opcode, record: Some(record) };
        match self.with(|machine| machine.leader()) {
            Some(leader) if leader != self.id => {
                self.replica.say(leader, origin, Note::Request(command).bytes());
            }
            _ => self.submit(origin, self.id, command),
        }
        done
    }

    /// As the leader, has a request appended that came by a member.
    fn submit(&self, origin: Origin, from: MemberId, mut command: Command) {
        let now = (self.host.monotonic(), self.host.wall().as_millis() as i64);
        if self.with(|machine| machine.take_on(&mut command, from, now)) {
            // Who leads no longer has closed all connections.
            let _ = self.replica.propose(origin, command.bytes());
        }
    }

    /// Resumes a session through this member. False if it is over, none if nobody knows.
    pub(crate) async fn revalidate(&self, origin: Origin, session: i64, timeout: i32) -> Option<bool> {
        match self.with(|machine| machine.leader())? {
            leader if leader == self.id => {
                let now = self.host.monotonic();
                Some(self.with(|machine| machine.revalidate(session, timeout, self.id, now)))
            }
            leader => {
                let (number, answer) = self.with(Machine::ask);
                let ask = Note::Revalidate(Revalidate { number, session, timeout });
                self.replica.say(leader, origin, ask.bytes());
                Some(answer.await.ok()? == 1)
            }
        }
    }

    /// Waits until all is applied here that the leader had appended when it was asked. It does not make sure that it still leads.
    pub(crate) async fn flush(&self, origin: Origin) {
        let Some(leader) = self.with(|machine| machine.leader()) else { return };
        let index = if leader == self.id {
            self.replica.with(|node, _| node.last_index())
        } else {
            let (number, answer) = self.with(Machine::ask);
            self.replica.say(leader, origin, Note::Sync(number).bytes());
            // Without an answer the connection is closed.
            let Ok(index) = answer.await else { return };
            u64::try_from(index).unwrap_or_default()
        };
        let _ = self.with(|machine| machine.wait_until(index)).await;
    }

    /// Does what other members ask for.
    pub(crate) async fn attend(self: Arc<Self>, mut notes: mpsc::UnboundedReceiver<Heard>) {
        while let Some(Heard { origin, from, note }) = notes.recv().await {
            if from == MYSELF {
                if let Some(leader) = self.with(|machine| machine.leader()) {
                    self.replica.say(leader, origin, note.bytes());
                }
                continue;
            }
            let last = self.replica.with(|node, machine| machine.leads().then(|| node.last_index() as i64));
            let Some(index) = last else { continue };
            match note {
                Note::Request(command) => self.submit(origin, from, command),
                Note::Report(report) if report.joins => {
                    self.replica.say(from, origin, Note::Joined(index).bytes());
                }
                Note::Sync(number) => {
                    self.replica.say(from, origin, Note::Synced(Place { number, index }).bytes());
                }
                Note::Revalidate(Revalidate { number, session, timeout }) => {
                    let now = self.host.monotonic();
                    let valid = self.with(|machine| machine.revalidate(session, timeout, from, now));
                    let answer = Note::Revalidated(Revalidated { number, valid });
                    self.replica.say(from, origin, answer.bytes());
                }
                _ => {}
            }
        }
    }

    /// Ends sessions that have run out, at each whole tick, as long as this member leads.
    pub(crate) async fn end_sessions(self: Arc<Self>) {
        let tick = (self.tick.as_millis() as u64).max(1);
        loop {
            let next = (self.host.monotonic().as_millis() / tick + 1) * tick;
            let next = picklock_model::time::Monotonic::default() + Duration::from_millis(next);
            self.host.sleep_until(next).await;
            let now = self.host.monotonic();
            for (session, overdue) in self.with(|machine| machine.run_out(now)) {
                let overdue_ns = nanos(overdue) as i64;
                let opcode = opcode::CLOSE_SESSION;
                let command =
                    Command { request: 0, session, time: 0, error: 0, overdue_ns, opcode, record: None };
                self.submit(Origin::default(), self.id, command);
            }
        }
    }

    /// Deletes containers that have no children any more, as long as this member leads.
    pub(crate) async fn delete_containers(self: Arc<Self>) {
        loop {
            self.host.sleep(CONTAINERS).await;
            if !self.with(|machine| machine.leads()) {
                continue;
            }
            for path in self.with(|machine| machine.tree.empty_containers()) {
                let (opcode, record) = (DELETE_CONTAINER, Some(path.bytes()));
                let command =
                    Command { request: 0, session: 0, time: 0, error: 0, overdue_ns: -1, opcode, record };
                self.submit(Origin::default(), self.id, command);
            }
        }
    }

    /// Saves the state once the log is long.
    pub(crate) async fn shorten_log(self: Arc<Self>) {
        let mut saved = 0;
        loop {
            self.host.sleep(Duration::from_secs(30)).await;
            let applied = self.with(|machine| machine.applied);
            if applied >= saved + LONGEST_LOG {
                saved = applied;
                self.replica.compact();
            }
        }
    }
}
