//! The notices of a command: the commands that replicas get, and the events that clients subscribe to for a key.

use picklock_model::trace::What;

use super::dataset::Store;
use super::effects::{Change, Part, Touch};
use crate::protocol::resp::{self, Reply};

impl Store {
    /// The reply to a request that Redis takes and this node does not have; the run notes it, and cannot be judged as one of Redis.
    pub fn not_modelled(&mut self, name: &str) -> Reply {
        self.effects.events.push(What::NotModelled { name: name.to_owned() });
        Reply::Error(format!("ERR {name} is not modelled; try picklock run --servers real").into())
    }

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

    /// Says that a database was emptied.
    pub(super) fn flushed(&mut self) {
        if self.watching {
            self.note(self.selected, &[], Touch::Flushed, None);
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
