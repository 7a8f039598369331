//! The state that the tasks of a server share: the machine behind one lock, which is never held across an await, and the ways to its clients and to
//! its standby.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::{Host, Origin};
use tokio::sync::{Notify, mpsc};

use crate::server::journal::Journal;
use crate::server::locks::SessionId;
use crate::server::machine::{Delivery, Machine, Now};

/// `wal_writer_delay`: how long after it was written the log is on the disk, if no commit brings it there before.
const WRITER_DELAY: Duration = Duration::from_millis(200);

/// A part of the log, for the standby.
pub(crate) struct Chunk {
    /// The message that brought the last of it about.
    pub(crate) origin: Origin,
    /// The place in the log behind it.
    pub(crate) end: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A server on its host.
pub(crate) struct Server {
    pub(crate) host: Host,
    state: Mutex<State>,
    /// Notified when the machine's deadline is another one.
    deadline_moved: Notify,
    /// Notified when a commit was answered that is not on the disk.
    written: Notify,
    /// Notified when the server leads from now on.
    pub(crate) promoted: Notify,
}

/// The state that the tasks share.
pub(crate) struct State {
    pub(crate) machine: Machine,
    pub(crate) journal: Journal,
    pub(crate) outboxes: BTreeMap<SessionId, mpsc::UnboundedSender<Delivery>>,
    /// The message that brought about the last record of the log.
    log_origin: Origin,
    /// The connections of standbys.
    pub(crate) feeds: Vec<mpsc::UnboundedSender<Chunk>>,
    deadline: Option<Monotonic>,
}

impl State {
    /// Brings the log to the disk, and what was not there yet to the standby.
    fn flush(&mut self) {
        let bytes = self.journal.flush();
        if bytes.is_empty() {
            return;
        }
        let (origin, end) = (self.log_origin, self.machine.replicated.logged);
        let chunk = || Chunk { origin, end, bytes: bytes.clone() };
        self.feeds.retain(|feed| feed.send(chunk()).is_ok());
    }
}

impl Server {
    pub(crate) fn new(host: Host, machine: Machine, journal: Journal) -> Server {
        let state = State {
            machine,
            journal,
            outboxes: BTreeMap::new(),
            log_origin: Origin::default(),
            feeds: Vec::new(),
            deadline: None,
        };
        Server {
            host,
            state: Mutex::new(state),
            deadline_moved: Notify::new(),
            written: Notify::new(),
            promoted: Notify::new(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the machine")
    }

    pub(crate) fn now(&self) -> Now {
        Now { wall: self.host.wall(), monotonic: self.host.monotonic() }
    }

    /// Has the machine do something, and makes known what came of it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Machine, Now) -> T) -> T {
        let now = self.now();
        let mut state = self.state();
        // A primary that has slept through its time does nothing more, whoever wakes it.
        state.machine.heed_fence(now);
        let result = act(&mut state.machine, now);
        let effects = state.machine.take_effects();
        if !effects.log.is_empty() {
            state.log_origin = effects.log_origin;
            state.journal.append(&effects.log);
        }
        if effects.syncs {
            state.flush();
        } else if effects.syncs_later {
            self.written.notify_one();
        }
        let State { machine, journal, outboxes, deadline, .. } = &mut *state;
        for (origin, event) in effects.events {
            journal.note(&event);
            self.host.record(origin, event);
        }
        if effects.promoted {
            journal.promote();
            self.promoted.notify_waiters();
        }
        for delivery in effects.deliveries {
            if let Some(outbox) = outboxes.get(&delivery.session) {
                // Who has just gone gets nothing.
                let _ = outbox.send(delivery);
            }
        }
        if *deadline != machine.deadline() {
            *deadline = machine.deadline();
            self.deadline_moved.notify_one();
        }
        result
    }

    /// Brings to the disk what no commit has brought there.
    pub(crate) async fn write_behind(&self) {
        loop {
            self.written.notified().await;
            self.host.sleep(WRITER_DELAY).await;
            self.state().flush();
        }
    }

    /// Has a disk that syncs late sync after this time.
    pub(crate) async fn sync_behind(&self, delay: Duration) {
        let cached = Arc::clone(&self.state().journal.cached);
        loop {
            cached.notified().await;
            self.host.sleep(delay).await;
            self.state().journal.sync();
        }
    }

    /// Wakes the machine when something is due.
    pub(crate) async fn keep_time(&self) {
        loop {
            let deadline = self.state().deadline;
            let Some(deadline) = deadline else {
                self.deadline_moved.notified().await;
                continue;
            };
            tokio::select! {
                biased;
                () = self.deadline_moved.notified() => {}
                () = self.host.sleep_until(deadline) => self.with(|machine, now| machine.tick(now)),
            }
        }
    }
}
