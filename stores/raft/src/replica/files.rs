//! The files of a member: its vote, its log, its last snapshot.
//!
//! The log is written at its end only. An entry there takes the place of an earlier one of the same number, and of all after that.

use picklock_sim::disk::Disk;

use crate::bytes::{Coded as _, framed, unframed};
use crate::entry::{Entry, Snapshot, Stored, Vote};

const VOTE: &str = "raft-vote";
const LOG: &str = "raft-log";
const SNAPSHOT: &str = "raft-snapshot";

/// The files of a member.
pub(super) struct Files {
    disk: Disk,
    syncs: bool,
}

impl Files {
    pub(super) fn new(disk: Disk, syncs: bool) -> Files {
        Files { disk, syncs }
    }

    /// What an earlier life has left.
    pub(super) fn stored(&self) -> Stored {
        let vote = Vote::read_from(&mut self.disk.read(VOTE).as_slice()).unwrap_or_default();
        let snapshot = Snapshot::read_from(&mut self.disk.read(SNAPSHOT).as_slice());
        let start = snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
        let (mut bytes, mut entries) = (self.disk.read(LOG), Vec::<Entry>::new());
        while let Some(Some(entry)) = unframed::<Entry>(&mut bytes) {
            let Some(at) = entry.index.checked_sub(start + 1).and_then(|at| usize::try_from(at).ok()) else {
                continue;
            };
            // What follows a gap belongs to a log that is not here.
            if at > entries.len() {
                break;
            }
            entries.truncate(at);
            entries.push(entry);
        }
        Stored { vote, snapshot, entries }
    }

    pub(super) fn keep_vote(&self, vote: Vote) {
        let mut bytes = Vec::new();
        vote.put(&mut bytes);
        self.disk.write(VOTE, &bytes);
        self.sync(VOTE);
    }

    pub(super) fn append(&self, entries: &[Entry]) {
        let bytes: Vec<u8> = entries.iter().flat_map(framed).collect();
        self.disk.append(LOG, &bytes);
        self.sync(LOG);
    }

    /// A snapshot, and the entries after it.
    pub(super) fn replace(&self, snapshot: &Snapshot, entries: &[Entry]) {
        let mut bytes = Vec::new();
        snapshot.put(&mut bytes);
        self.disk.write(SNAPSHOT, &bytes);
        self.sync(SNAPSHOT);
        self.disk.write(LOG, &entries.iter().flat_map(framed).collect::<Vec<u8>>());
        self.sync(LOG);
    }

    fn sync(&self, file: &str) {
        if self.syncs {
            self.disk.sync(file);
        }
    }
}
