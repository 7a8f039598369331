//! What commands do besides replying: events of records, effects for replicas, changes for those who watch keys.

use picklock_sim::trace::What;

use super::Store;
use crate::resp;

/// What executing commands did besides replying.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What happened to records.
    pub events: Vec<What>,
    /// The changes as commands with absolute times: what replicas and the append-only file get.
    pub writes: Vec<u8>,
    /// Where each command of `writes` ends, and which database it is about.
    pub parts: Vec<Part>,
}

/// One command of the effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The database that it is about.
    pub database: usize,
    /// Where it ends among the bytes of the effects; it begins where the one before it ends.
    pub end: usize,
}

/// What happened to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The database that it is in.
    pub database: usize,
    /// The key.
    pub key: Vec<u8>,
    /// Whether the key was changed by it.
    pub touch: Touch,
    /// The class of the notification, a letter of `notify-keyspace-events`, and its name.
    pub event: Option<(u8, &'static str)>,
}

/// What happening to a key means for those who wait for it or watch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is the same as before.
    Same,
    /// It was changed: that wakes who waits for it, and fails who watches it.
    Changed,
    /// It has another value in the place of the one that it had: that fails who watches it, and wakes nobody.
    Replaced,
    /// Where it was not, it is now, but dead: who watches it sees nothing at both times.
    CameDead,
}

impl Store {
    /// Notes a change for replicas and the append-only file.
    pub fn propagate(&mut self, args: &[&[u8]]) {
        self.propagate_in(self.selected, args);
    }

    /// The same, for a key that is not in the selected database.
    pub(super) fn propagate_in(&mut self, database: usize, args: &[&[u8]]) {
        resp::request(&mut self.effects.writes, args);
        self.effects.parts.push(Part { database, end: self.effects.writes.len() });
    }

    /// Says what a command did to a key.
    pub fn changed(&mut self, class: u8, event: &'static str, key: &[u8]) {
        if self.watching {
            self.note(self.selected, key, Touch::Changed, Some((class, event)));
        }
    }

    /// Says that a command stored its result in a key, which may have replaced what was there.
    pub fn stored(&mut self, class: u8, event: &'static str, key: &[u8], replaced: bool) {
        if self.watching {
            let touch = if replaced { Touch::Replaced } else { Touch::Changed };
            self.note(self.selected, key, touch, Some((class, event)));
        }
    }

    /// Says what happened around a key that was not changed by it.
    pub fn noticed(&mut self, class: u8, event: &'static str, key: &[u8]) {
        if self.watching {
            self.note(self.selected, key, Touch::Same, Some((class, event)));
        }
    }

    /// Says that a key was changed in a way that has no notification.
    pub fn touched(&mut self, database: usize, key: &[u8]) {
        if self.watching {
            self.note(database, key, Touch::Changed, None);
        }
    }

    pub(super) fn note(
        &mut self,
        database: usize,
        key: &[u8],
        touch: Touch,
        event: Option<(u8, &'static str)>,
    ) {
        self.changes.push(Change { database, key: key.to_vec(), touch, event });
    }
}
