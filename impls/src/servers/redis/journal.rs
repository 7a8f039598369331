//! What a node leaves on disk: the append-only file, and its role.
//!
//! With [`Persistence::Always`] every effect is in the append-only file, synced, before its command is answered. With
//! [`Persistence::None`] the same file is kept under another name, but only so that the simulator can tell which records
//! a restart has lost; nothing of it comes back.
//!
//! Left out on purpose: rewriting the file when it has grown, fsync every second, RDB snapshots.

use picklock_sim::disk::Disk;
use picklock_sim::host::Host;
use picklock_sim::plan::Persistence;
use picklock_sim::time::WallTime;
use picklock_sim::trace::What;

use super::resp::Requests;
use super::store::{self, Store};

/// The file that a role is kept in when CONFIG REWRITE was asked for.
const CONFIG: &str = "redis.conf";

/// A node's file of effects.
pub(super) struct Journal {
    disk: Disk,
    persistence: Persistence,
}

impl Journal {
    pub(super) fn open(host: &Host, persistence: Persistence) -> Journal {
        Journal { disk: host.disk(), persistence }
    }

    fn file(&self) -> &'static str {
        match self.persistence {
            Persistence::None => "effects-of-this-life",
            Persistence::Always => "appendonly.aof",
        }
    }

    /// Appends effects.
    pub(super) fn append(&self, writes: &[u8]) {
        if !writes.is_empty() {
            self.disk.append(self.file(), writes);
            self.disk.sync(self.file());
        }
    }

    /// Replaces what there is by a full copy.
    pub(super) fn replace(&self, snapshot: &[u8]) {
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
        let line = primary.map_or_else(|| "replicaof no one".to_owned(), |primary| format!("replicaof {primary}"));
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
    while let Ok(Some(request)) = requests.next() {
        store.apply(now, &request.args);
    }
    store.effects = store::Effects::default();
    store.access = store::Access::Primary;
    store
}
