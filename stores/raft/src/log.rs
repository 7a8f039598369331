//! The log of a member: the entries after its last snapshot.

use crate::entry::{Content, Entry, Snapshot, Stored};

/// The entries of a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// What stands for the entries before the first one here.
    pub(crate) snapshot: Option<Snapshot>,
    entries: Vec<Entry>,
}

impl Log {
    pub(crate) fn new(stored: Stored) -> Log {
        Log { snapshot: stored.snapshot, entries: stored.entries }
    }

    /// The place of the last entry that a snapshot stands for; 0 without one.
    pub(crate) fn start(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.index)
    }

    pub(crate) fn last_index(&self) -> u64 {
        self.start() + self.entries.len() as u64
    }

    pub(crate) fn last_term(&self) -> u64 {
        self.term(self.last_index()).unwrap_or_default()
    }

    /// The term of an entry; 0 before the first one. None if it is not there, or no longer.
    pub(crate) fn term(&self, index: u64) -> Option<u64> {
        match &self.snapshot {
            Some(snapshot) if snapshot.index == index => Some(snapshot.term),
            None if index == 0 => Some(0),
            _ => self.get(index).map(|entry| entry.term),
        }
    }

    pub(crate) fn get(&self, index: u64) -> Option<&Entry> {
        let at = index.checked_sub(self.start() + 1)?;
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// The entries from this place on; none if they are no longer there.
    pub(crate) fn from(&self, index: u64) -> Option<&[Entry]> {
        let at = index.checked_sub(self.start() + 1)?;
        self.entries.get(usize::try_from(at).ok()?..)
    }

    /// Appends an entry in this term.
    pub(crate) fn append(&mut self, entry: Entry) {
        debug_assert_eq!(entry.index, self.last_index() + 1);
        self.entries.push(entry);
    }

    /// Takes entries of a leader, which follow one that is here: those that are here already stay, and others make room.
    /// The place of the first one that is new.
    pub(crate) fn merge(&mut self, entries: Vec<Entry>) -> Option<u64> {
        let mut first = None;
        for entry in entries {
            if entry.index <= self.start() || self.term(entry.index) == Some(entry.term) {
                continue;
            }
            let keep = usize::try_from(entry.index - self.start() - 1).unwrap_or(usize::MAX);
            self.entries.truncate(keep);
            first.get_or_insert(entry.index);
            self.entries.push(entry);
        }
        first
    }

    /// Starts anew with a snapshot that a leader has sent.
    pub(crate) fn install(&mut self, snapshot: Snapshot) {
        self.snapshot = Some(snapshot);
        self.entries.clear();
    }

    /// Forgets the entries up to the place of a snapshot of one's own.
    pub(crate) fn compact(&mut self, snapshot: Snapshot) {
        let gone = usize::try_from(snapshot.index - self.start()).unwrap_or(usize::MAX);
        self.entries.drain(..gone.min(self.entries.len()));
        self.snapshot = Some(snapshot);
    }

    /// The members that are known to be chosen, and the place of the entry that says so. The last change that a log has may have come to
    /// nothing; the one before it was committed before that was made.
    pub(crate) fn members_in_force(&self) -> Option<(u64, &std::collections::BTreeSet<u32>)> {
        let named = self.entries.iter().rev().filter_map(|entry| match &entry.content {
            Content::Members(members) => Some((entry.index, members)),
            _ => None,
        });
        let snapshot = self.snapshot.as_ref().map(|snapshot| (snapshot.index, &snapshot.members));
        named.skip(1).chain(snapshot).next()
    }
}
