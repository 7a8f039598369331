//! What a node leaves on disk: the append-only file, and its role.
//!
//! With [`Persistence::Always`] every effect is in the append-only file, synced, before its command is answered. With
//! [`Persistence::None`] the same file is kept under another name, but only so that the simulator can tell which records
//! a restart has lost; nothing of it comes back.
//!
//! Like Redis, a node rewrites the file as a full copy when it has grown to twice its size.
//!
//! Left out on purpose: fsync every second, RDB snapshots.

use std::sync::atomic::{AtomicUsize, Ordering};

use picklock_sim::disk::Disk;
use picklock_sim::host::Host;
use picklock_sim::plan::Persistence;
use picklock_sim::time::WallTime;
use picklock_sim::trace::What;

use super::resp::Requests;
use super::store::{self, Store};

/// The file that a role is kept in when CONFIG REWRITE was asked for.
const CONFIG: &str = "redis.conf";

/// A file smaller than this is not rewritten, in bytes.
const REWRITE_MIN: usize = 4 * 1024;

/// A node's file of effects.
pub(super) struct Journal {
    disk: Disk,
    persistence: Persistence,
    /// How long the file is, and how long it may grow, in bytes. Only the holder of the node's lock touches them.
    len: AtomicUsize,
    len_max: AtomicUsize,
}

impl Journal {
    pub(super) fn open(host: &Host, persistence: Persistence) -> Journal {
        let len_max = AtomicUsize::new(REWRITE_MIN);
        Journal { disk: host.disk(), persistence, len: AtomicUsize::new(0), len_max }
    }

    fn file(&self) -> &'static str {
        match self.persistence {
            Persistence::None => "effects-of-this-life",
            Persistence::Always => "appendonly.aof",
        }
    }

    /// Appends the effects of a command that led to this dataset.
    pub(super) fn append(&self, writes: &[u8], store: &Store) {
        let len = self.len.fetch_add(writes.len(), Ordering::Relaxed) + writes.len();
        if len > self.len_max.load(Ordering::Relaxed) {
            self.replace(&store.snapshot());
        } else {
            self.disk.append(self.file(), writes);
            self.disk.sync(self.file());
        }
    }

    /// Replaces what there is by a full copy.
    pub(super) fn replace(&self, snapshot: &[u8]) {
        self.len.store(snapshot.len(), Ordering::Relaxed);
        self.len_max.store(REWRITE_MIN.max(2 * snapshot.len()), Ordering::Relaxed);
        self.disk.write(self.file(), snapshot);
        self.disk.sync(self.file());
    }

    /// The dataset at the start of a life, and what became of the records of the previous one.
    pub(super) fn restore(&self, now: WallTime) -> (Store, Vec<What>) {
        let bytes = self.disk.read(self.file());
        if bytes.is_empty() {
            return (Store::default(), Vec::new());
        }
        let mut store = load(&bytes, now);
        store.expire_dead();
        let mut events = std::mem::take(&mut store.effects.events);
        store.effects.writes.clear();
        if self.persistence == Persistence::None {
            let records = store.entries().filter(|(_, entry)| entry.record);
            events.extend(records.map(|(key, _)| What::Lost { key: store::name(key) }));
            store = Store::default();
        }
        self.replace(&store.snapshot());
        (store, events)
    }

    /// Keeps the role over restarts.
    pub(super) fn keep_role(&self, primary: Option<&str>) {
        let line =
            primary.map_or_else(|| "replicaof no one".to_owned(), |primary| format!("replicaof {primary}"));
        self.disk.write(CONFIG, line.as_bytes());
        self.disk.sync(CONFIG);
    }

    /// The role that was kept, if one was: the primary to follow, or none.
    pub(super) fn kept_role(&self) -> Option<Option<String>> {
        let bytes = self.disk.read(CONFIG);
        let text = String::from_utf8_lossy(&bytes);
        let primary = text.strip_prefix("replicaof ")?;
        Some((primary != "no one").then(|| primary.to_owned()))
    }
}

/// Makes a dataset of effects. A torn or damaged end is dropped; the events of its making are not news.
pub(super) fn load(bytes: &[u8], now: WallTime) -> Store {
    let mut store = Store::default();
    let mut requests = Requests::default();
    requests.room().extend_from_slice(bytes);
    while let Ok(Some(request)) = requests.take() {
        store.apply(now, &request.args);
    }
    store.effects = store::Effects::default();
    store.access = store::Access::Primary;
    store
}
