//! The files of the database: the changes of each committed transaction, written and synced before anybody hears of
//! the commit, unless the server is configured to sync later (`synchronous_commit = off`) or not at all (`fsync = off`).
//!
//! So a restart loses nothing but transactions that were not committed, and with them all row locks. Which rows were
//! locked is kept in a second file, only so that the simulator can report which locks a restart has lost.
//!
//! A place in the log is the number of records before it. The log of a server with a standby is kept whole; that of another one is written
//! anew at each start.
//!
//! Left out on purpose: checkpoints, and that recovery takes time. With `fsync = off` a real server may come back with damaged files; this one
//! comes back with an earlier state.

use std::collections::BTreeSet;

use picklock_model::ids::Key;
use picklock_model::trace::What;
use picklock_sim::disk::Disk;

use crate::server::codec::{Reader, text};
use crate::server::record::Record;

const LOG: &str = "pg_wal";
const LOCKS: &str = "locks-of-this-life";
/// It is there once the server was promoted.
const PROMOTED: &str = "promoted";
/// It is there once the server was started.
const STARTED: &str = "started";

/// A server's files.
pub(crate) struct Journal {
    disk: Disk,
    /// The rows that are locked.
    locks: BTreeSet<Key>,
    /// True if the disk never syncs.
    forgets: bool,
    /// The end of the log that is in memory only: a server that dies loses it.
    buffer: Vec<u8>,
}

impl Journal {
    /// The files on this disk; with `forgets` it never syncs.
    pub(crate) fn new(disk: Disk, forgets: bool) -> Journal {
        Journal { disk, locks: BTreeSet::new(), forgets, buffer: Vec::new() }
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
        let bytes = self.disk.read(LOCKS);
        let mut reader = Reader(&bytes);
        std::iter::from_fn(|| reader.text()).map(|key| Key::new(&key)).collect()
    }

    /// Begins a life with these records as its log, and with the locks that were noted before.
    pub(crate) fn begin(&self, records: &[Record]) {
        self.disk.write(LOG, &Record::encode_all(records));
        if !self.forgets {
            self.disk.sync(LOG);
        }
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
            if !self.forgets {
                self.disk.sync(LOG);
            }
        }
        bytes
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

    /// Notes a lock that was taken or given back.
    pub(crate) fn note(&mut self, event: &What) {
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
        let mut bytes = Vec::new();
        self.locks.iter().for_each(|key| text(&mut bytes, key.as_str()));
        self.disk.write(LOCKS, &bytes);
        self.disk.sync(LOCKS);
    }
}
