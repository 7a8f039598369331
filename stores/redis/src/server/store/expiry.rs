//! The end of keys, and the removal of those that are dead.

use picklock_model::trace::What;

use super::dataset::{Access, DATABASES, Store, name};
use super::value::Value;

impl Store {
    /// True if the key of a database is dead though not deleted; none if there is no such key.
    #[must_use]
    pub fn is_dead(&self, database: usize, key: &[u8]) -> Option<bool> {
        self.databases.get(database)?.get(key).map(|entry| entry.is_dead(self.now_ms()))
    }

    /// Deletes a key because its time is over, as a primary says or finds.
    pub fn remove_expired(&mut self, key: &[u8]) {
        let Some(entry) = self.current_mut().remove(key) else { return };
        self.volatile -= usize::from(entry.expires.is_some());
        if entry.record {
            // A key is over when the clock is past its last millisecond.
            let over = entry.expires.and_then(|last| u64::try_from(last.saturating_add(1)).ok());
            let overdue = |over: u64| self.now.as_nanos().saturating_sub(over.saturating_mul(1_000_000));
            let overdue_ns = over.map_or(0, overdue);
            self.effects.events.push(What::Expired { key: name(key), overdue_ns });
        }
    }

    /// Sets when a live key ends. False if there is no such key. A string that gets a lease in this way is a record from now on.
    pub fn expire_at(&mut self, key: &[u8], when: Option<i64>) -> bool {
        if !self.live(key) {
            return false;
        }
        let Some(entry) = self.databases[self.selected].get_mut(key) else { return false };
        self.volatile -= usize::from(entry.expires.is_some());
        self.volatile += usize::from(when.is_some());
        entry.expires = when;
        if entry.record {
            self.effects.events.push(What::Extended { key: name(key) });
        } else if when.is_some() && matches!(entry.value, Value::String(_)) {
            entry.record = true;
            self.effects.events.push(What::Created { key: name(key) });
        }
        true
    }

    /// The active expiry cycle of a primary: deletes every dead key.
    pub fn expire_dead(&mut self) {
        let selected = self.selected;
        for database in 0..DATABASES {
            self.selected = database;
            self.expire_dead_here();
        }
        self.selected = selected;
    }

    /// Deletes the dead keys of the selected database, on a primary: for commands that come upon all of its keys.
    pub fn expire_dead_here(&mut self) {
        if self.access != Access::Primary {
            return;
        }
        let now = self.now_ms();
        let dead = self.databases[self.selected].iter().filter(|(_, entry)| entry.is_dead(now));
        let dead: Vec<Vec<u8>> = dead.map(|(key, _)| key.clone()).collect();
        for key in dead {
            self.expire(&key);
        }
    }

    /// True if the key that a command reads is live; says so if it is not.
    pub(super) fn read_live(&mut self, key: &[u8]) -> bool {
        let live = self.live(key);
        if live {
            self.counts.hits += 1;
        } else {
            self.counts.misses += 1;
            self.noticed(b'm', "keymiss", key);
        }
        live
    }

    /// True if the key is live. A primary deletes it if it is dead.
    pub(super) fn live(&mut self, key: &[u8]) -> bool {
        let Some(entry) = self.current().get(key) else { return false };
        if self.access == Access::Stream {
            return true;
        }
        if !entry.is_dead(self.now_ms()) {
            return true;
        }
        if self.access == Access::Primary {
            self.expire(key);
        }
        false
    }

    /// Deletes a dead key and notifies the replicas.
    fn expire(&mut self, key: &[u8]) {
        self.remove_expired(key);
        self.counts.expired += 1;
        self.propagate(&[b"DEL", key]);
        self.changed(b'x', "expired", key);
    }
}
