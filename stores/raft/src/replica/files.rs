//! The files of a member: its vote, its log, its last snapshot.
//!
//! The log is written at its end only. An entry there takes the place of an earlier one of the same number, and of all after that. What is at its end
//! and is no whole entry was being written when the power was lost: nobody was sent an acknowledgement of it, and it is dropped.

use picklock_sim::disk::Disk;

use crate::bytes::{Coded as _, framed, unframed};
use crate::entry::{Entry, Snapshot, Stored, Vote};

const VOTE: &str = "raft-vote";
const LOG: &str = "raft-log";
const SNAPSHOT: &str = "raft-snapshot";

/// A file that is never synced: it is gone after a loss of power, and only then.
const POWERED: &str = "raft-powered";

/// What a loss of power leaves of the files of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that it has acknowledged.
    All,
    /// Everything, and half of an entry that was being written.
    AllAndTorn,
    /// Nothing: what is written is not synced.
    Nothing,
}

/// The files of a member.
pub(super) struct Files {
    disk: Disk,
    keeps: Keeps,
}

impl Files {
    pub(super) fn new(disk: Disk, keeps: Keeps) -> Files {
        Files { disk, keeps }
    }

    /// What an earlier life has left.
    pub(super) fn stored(&self) -> Stored {
        let vote = Vote::read_from(&mut self.disk.read(VOTE).as_slice()).unwrap_or_default();
        let snapshot = Snapshot::read_from(&mut self.disk.read(SNAPSHOT).as_slice());
        let start = snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
        if self.keeps == Keeps::AllAndTorn {
            self.tear(start);
        }
        let (entries, is_torn) = self.entries(start);
        if is_torn {
            self.disk.write(LOG, &entries.iter().flat_map(framed).collect::<Vec<u8>>());
            self.sync(LOG);
        }
        Stored { vote, snapshot, entries }
    }

    /// The entries of the log after this place, and whether something follows that is none.
    fn entries(&self, start: u64) -> (Vec<Entry>, bool) {
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
        (entries, !bytes.is_empty())
    }

    /// Puts half of one more entry at the end of the log if the power was lost.
    fn tear(&self, start: u64) {
        let had_power = !self.disk.read(POWERED).is_empty();
        if let Some(last) = self.entries(start).0.pop().filter(|_| !had_power) {
            let torn = framed(&Entry { index: last.index + 1, ..last });
            self.disk.append(LOG, &torn[..torn.len() / 2]);
            self.sync(LOG);
        }
        self.disk.write(POWERED, b"on");
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
        if self.keeps != Keeps::Nothing {
            self.disk.sync(file);
        }
    }
}
