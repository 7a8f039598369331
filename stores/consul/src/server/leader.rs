//! The work of a server for those who ask: its changes, the trace of its locks, and the ends of its sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::{GrantId, Key};
use picklock_model::trace::What;
use picklock_sim::host::{Host, Origin};
use picklock_sim::task::Task;
use tokio::sync::oneshot;

use super::journal::{Journal, Line};
use super::state::{Command, State};
use crate::Consul;
use crate::api::Pair;

/// A server.
pub(super) struct Server {
    pub(super) host: Host,
    kind: Consul,
    journal: Journal,
    shared: Mutex<Shared>,
}

struct Shared {
    state: State,
    /// The section in whose service each key was acquired.
    acquired_by: BTreeMap<String, Option<GrantId>>,
    /// Those who wait for a change of a key.
    waiting: Vec<oneshot::Sender<()>>,
    /// What ends each session.
    timers: BTreeMap<String, Task>,
}

impl Server {
    /// A server that has executed its log again.
    pub(super) fn resumed(host: &Host, kind: Consul) -> Server {
        let journal = Journal::new(host.disk());
        let (mut state, mut acquired_by) = (State::new(), BTreeMap::new());
        let lines = journal.lines();
        if !lines.is_empty() {
            let now = host.monotonic();
            for Line { command, by } in lines {
                // One that failed was answered so.
                let _ = state.apply(now, &command);
                for moved in state.moved().iter().filter(|moved| moved.is_held) {
                    acquired_by.insert(moved.key.clone(), by);
                }
            }
        }
        let shared = Shared { state, acquired_by, waiting: Vec::new(), timers: BTreeMap::new() };
        Server { host: host.clone(), kind, journal, shared: Mutex::new(shared) }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be read of the state.
    pub(super) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.shared().state)
    }

    /// The shortest session.
    pub(super) fn session_ttl_min(&self) -> Duration {
        self.kind.session_ttl_min
    }

    /// Makes a change for a message. False if a condition was not met.
    ///
    /// # Errors
    /// When it cannot be made, in Consul's words.
    pub(super) fn apply(&self, origin: Origin, command: Command) -> Result<bool, String> {
        self.change(origin, command, None)
    }

    /// Makes a change; with `overdue_ns`, that of a session that ran out so long ago.
    fn change(&self, origin: Origin, command: Command, overdue_ns: Option<u64>) -> Result<bool, String> {
        let now = self.host.monotonic();
        let mut shared = self.shared();
        let outcome = shared.state.apply(now, &command);
        self.journal.append(&Line { command, by: origin.grant });
        let Shared { state, acquired_by, waiting, .. } = &mut *shared;
        for moved in state.moved() {
            let key = || Key::new(&moved.key);
            if moved.was_held {
                let by = service(origin, acquired_by.remove(&moved.key).flatten());
                match overdue_ns {
                    Some(overdue_ns) => {
                        self.host.record(Origin::default(), What::Expired { key: key(), overdue_ns });
                    }
                    None => self.host.record(by, What::Deleted { key: key() }),
                }
            }
            if moved.is_held {
                acquired_by.insert(moved.key.clone(), origin.grant);
                self.host.record(origin, What::Created { key: key() });
            }
        }
        // In the order in which they came. Each looks for itself whether its key has changed.
        for waits in waiting.drain(..) {
            // Who waited may be gone.
            let _ = waits.send(());
        }
        outcome
    }

    /// A key, once the index of the answer is past this one, or after this wait; at once for the index 0.
    pub(super) async fn get(&self, key: &str, mut past: u64, wait: Duration) -> (u64, Option<Pair>) {
        let until = self.host.monotonic() + wait;
        let mut was_missing = false;
        loop {
            let (index, pair, changes) = {
                let mut shared = self.shared();
                let (index, pair) = shared.state.get(key);
                if pair.is_none() && was_missing {
                    past = past.max(index);
                }
                was_missing = pair.is_none();
                if past == 0 || index > past {
                    return (index, pair);
                }
                let (sender, changes) = oneshot::channel();
                shared.waiting.push(sender);
                (index, pair, changes)
            };
            let left = until.since(self.host.monotonic());
            if self.host.timeout_boxed(left, Box::pin(changes)).await.is_err() {
                return (index, pair);
            }
        }
    }

    /// Renews a session: its time begins anew. False if there is none.
    pub(super) fn renew(self: &Arc<Self>, origin: Origin, id: &str) -> bool {
        let shared = self.shared();
        if shared.state.session(id).is_none() {
            return false;
        }
        for key in shared.state.held_by(id) {
            let by = service(origin, shared.acquired_by.get(&key).copied().flatten());
            self.host.record(by, What::Extended { key: Key::new(&key) });
        }
        drop(shared);
        self.begin_timer(id);
        true
    }

    /// Begins the time of all sessions, as a server that leads from now on.
    pub(super) fn begin_timers(self: &Arc<Self>) {
        let ids: Vec<String> =
            self.read(|state| state.sessions().map(|session| session.id.clone()).collect());
        for id in ids {
            self.begin_timer(&id);
        }
    }

    /// Begins the time of a session, if it has one.
    pub(super) fn begin_timer(self: &Arc<Self>, id: &str) {
        let Some(ttl) = self.read(|state| state.session(id).and_then(crate::api::Session::time)) else {
            return;
        };
        let began = self.host.monotonic();
        let end = began + ttl * self.kind.multiplier;
        let (server, session) = (Arc::clone(self), id.to_owned());
        let task = self.host.spawn(async move {
            server.host.sleep_until(end).await;
            server.shared().timers.remove(&session);
            // It was promised its TTL, and is kept for longer.
            let overdue = server.host.monotonic().since(began + ttl);
            let overdue_ns = picklock_model::time::nanos(overdue);
            // The end of a session has no condition.
            let _ = server.change(Origin::default(), Command::Destroy { id: session }, Some(overdue_ns));
        });
        if let Some(earlier) = self.shared().timers.insert(id.to_owned(), task) {
            earlier.abort();
        }
    }

    /// Ends a session that is asked to end.
    pub(super) fn destroy(&self, origin: Origin, id: String) {
        if let Some(timer) = self.shared().timers.remove(&id) {
            timer.abort();
        }
        // The end of a session has no condition.
        let _ = self.apply(origin, Command::Destroy { id });
    }
}

/// In whose service a change of a lock is: a client that renews or ends a session does so for what it has acquired with it, whatever it does by
/// then.
fn service(origin: Origin, acquired: Option<GrantId>) -> Origin {
    let is_own = acquired.zip(origin.grant).is_some_and(|(acquired, by)| acquired.client == by.client);
    Origin { grant: if is_own { acquired } else { origin.grant }, ..origin }
}
