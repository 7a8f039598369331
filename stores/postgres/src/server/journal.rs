//! The files of the database: the changes of each committed transaction, written and synced before anybody hears of
//! the commit, unless the server is configured to sync later (`synchronous_commit = off`) or not at all (`fsync = off`). A disk may say that
//! it has synced before it has: then what it was given lies in its cache for a while, and goes with the power.
//!
//! So a restart loses nothing but transactions that were not committed, and with them all row locks. Which rows were
//! locked is kept in a second file, only so that the simulator can report which locks a restart has lost; which registers were written in a third
//! one, for a server that may lose them as a whole.
//!
//! A place in the log is the number of records before it. The log of a server with a standby is kept whole; that of another one is written
//! anew at each start.
//!
//! Left out on purpose: checkpoints, and that recovery takes time. With `fsync = off` a real server may come back with damaged files; this one
//! comes back with an earlier state.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::trace::What;
use picklock_sim::disk::Disk;
use tokio::sync::Notify;

use crate::server::codec::{Reader, text};
use crate::server::record::Record;

const LOG: &str = "pg_wal";
const LOCKS: &str = "locks-of-this-life";
const REGISTERS: &str = "registers-of-all-lives";
/// It is there once the server was promoted.
const PROMOTED: &str = "promoted";
/// It is there once the server was started.
const STARTED: &str = "started";

/// When a disk has what was synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Syncs {
    #[default]
    AtOnce,
    /// So much later, though it says that it has it.
    Later(Duration),
    /// `fsync = off`.
    Never,
}

/// A server's files.
pub(crate) struct Journal {
    disk: Disk,
    /// The rows that are locked.
    locks: BTreeSet<Key>,
    /// The registers that were written.
    registers: BTreeSet<Key>,
    /// True if these are noted.
    pub(crate) notes_registers: bool,
    syncs: Syncs,
    /// Notified when something lies in the cache of a disk that syncs late.
    pub(crate) cached: Arc<Notify>,
    /// The end of the log that is in memory only: a server that dies loses it.
    buffer: Vec<u8>,
}

impl Journal {
    /// The files on this disk.
    pub(crate) fn new(disk: Disk, syncs: Syncs) -> Journal {
        Journal {
            disk,
            locks: BTreeSet::new(),
            registers: BTreeSet::new(),
            notes_registers: false,
            syncs,
            cached: Arc::default(),
            buffer: Vec::new(),
        }
    }

    /// The changes that were committed in earlier lives, in order.
    pub(crate) fn records(&self) -> Vec<Record> {
        Record::decode(&self.disk.read(LOG))
    }

    /// The bytes of the log from its record of this number on, and how many records it has.
    pub(crate) fn tail(&self, from: u64) -> (Vec<u8>, u64) {
        let bytes = self.disk.read(LOG);
        let (mut reader, mut count, mut start) = (Reader(&bytes), 0, None);
        loop {
            if count == from {
                start = Some(bytes.len() - reader.0.len());
            }
            if reader.record().is_none() {
                break;
            }
            count += 1;
        }
        (bytes[start.unwrap_or(bytes.len())..].to_vec(), count)
    }

    /// The locks that were held at the end of the last life.
    pub(crate) fn locked(&self) -> Vec<Key> {
        keys(&self.disk.read(LOCKS))
    }

    /// The registers that were written in earlier lives, and whose writes are noted on.
    pub(crate) fn written(&mut self) -> Vec<Key> {
        let known = keys(&self.disk.read(REGISTERS));
        self.registers.extend(known.iter().cloned());
        known
    }

    /// Begins a life with these records as its log, and with the locks that were noted before.
    pub(crate) fn begin(&self, records: &[Record]) {
        self.disk.write(LOG, &Record::encode_all(records));
        self.synced();
        self.keep_locks();
    }

    /// Begins a life with the log as it is.
    pub(crate) fn resume(&self) {
        self.keep_locks();
    }

    /// Adds records to the log, in memory.
    pub(crate) fn append(&mut self, records: &[Record]) {
        records.iter().for_each(|record| record.encode(&mut self.buffer));
    }

    /// Brings the log to the disk: what was not there yet.
    pub(crate) fn flush(&mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.buffer);
        if !bytes.is_empty() {
            self.disk.append(LOG, &bytes);
            self.synced();
        }
        bytes
    }

    /// Has the disk sync the log, as far as it does.
    fn synced(&self) {
        match self.syncs {
            Syncs::AtOnce => self.sync(),
            Syncs::Later(_) => self.cached.notify_one(),
            Syncs::Never => {}
        }
    }

    /// The log is on the disk, whatever happens to the power.
    pub(crate) fn sync(&self) {
        self.disk.sync(LOG);
    }

    /// Notes that the server leads from now on.
    pub(crate) fn promote(&self) {
        self.disk.write(PROMOTED, b"2");
        self.disk.sync(PROMOTED);
    }

    /// True if this is the first life of the server; it is no more by that.
    pub(crate) fn begins(&self) -> bool {
        let is_first = self.disk.read(STARTED).is_empty();
        self.disk.write(STARTED, b"yes");
        self.disk.sync(STARTED);
        is_first
    }

    /// True if it was promoted in an earlier life.
    pub(crate) fn was_promoted(&self) -> bool {
        !self.disk.read(PROMOTED).is_empty()
    }

    /// Notes a lock that was taken or given back, or a register that was written.
    pub(crate) fn note(&mut self, event: &What) {
        if let What::ResourceWritten { key, .. } = event
            && self.notes_registers
            && self.registers.insert(key.clone())
        {
            self.keep(REGISTERS, &self.registers);
        }
        let changed = match event {
            What::Created { key } => self.locks.insert(key.clone()),
            What::Deleted { key } | What::Expired { key, .. } => self.locks.remove(key),
            _ => false,
        };
        if changed {
            self.keep_locks();
        }
    }

    fn keep_locks(&self) {
        self.keep(LOCKS, &self.locks);
    }

    fn keep(&self, file: &str, keys: &BTreeSet<Key>) {
        let mut bytes = Vec::new();
        keys.iter().for_each(|key| text(&mut bytes, key.as_str()));
        self.disk.write(file, &bytes);
        self.disk.sync(file);
    }
}

/// The keys of a file.
fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut reader = Reader(bytes);
    std::iter::from_fn(|| reader.text()).map(|key| Key::new(&key)).collect()
}
