//! The dataset of a node: keys, values, and when they end.
//!
//! Expiry is in milliseconds of the node's wall clock; a key is dead when `now > when`. A primary deletes a dead key
//! when it is touched, or in the active cycle; a replica answers as if it were gone and waits for its primary to say so.
//!
//! A **record** is a key that stands for a lock: a string written by SET with NX or with an expiry, or a hash. Records
//! are told of by neutral store events; other keys (counters made by INCR, plain values) are not.
//!
//! Left out on purpose: Redis samples volatile keys to expire them, here all are looked at, since a simulated dataset
//! is small.

use std::collections::BTreeMap;

mod value;

pub use value::{Entry, Fields, List, Members, SortedSet, Value};

use picklock_sim::ids::Key;
use picklock_sim::time::WallTime;
use picklock_sim::trace::What;

use super::resp::{self, Reply};

/// What executing commands did besides replying.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What happened to records.
    pub events: Vec<What>,
    /// The changes as commands with absolute times: what replicas and the append-only file get.
    pub writes: Vec<u8>,
}

/// Whose commands are executed: that decides what becomes of dead keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// A client's, on a primary: a dead key is deleted when it is touched.
    #[default]
    Primary,
    /// A client's, on a replica: a dead key looks gone, and nothing may be written.
    Replica,
    /// The primary's or the append-only file's: whether a key is dead was judged elsewhere.
    Stream,
}

/// The dataset, and what the command at hand needs around it.
#[derive(Debug, Default)]
pub struct Store {
    entries: BTreeMap<Vec<u8>, Entry>,
    /// How many entries have an expiry.
    volatile: usize,
    /// The node's wall clock at the command at hand. It does not move while a script runs.
    pub now: WallTime,
    /// Whose command it is.
    pub access: Access,
    /// What was done so far.
    pub effects: Effects,
}

impl Store {
    /// The node's wall clock in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.now.as_millis()).unwrap_or(i64::MAX)
    }

    /// The number of keys, dead ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// True while some key has an expiry.
    #[must_use]
    pub fn has_volatile(&self) -> bool {
        self.volatile > 0
    }

    /// The entries, dead ones included, by key.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &Entry)> {
        self.entries.iter().map(|(key, entry)| (key.as_slice(), entry))
    }

    /// The live entry of a key.
    pub fn get(&mut self, key: &[u8]) -> Option<&Entry> {
        if self.look(key) { self.entries.get(key) } else { None }
    }

    /// The live string of a key.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn string(&mut self, key: &[u8]) -> Result<Option<&Vec<u8>>, Reply> {
        match self.get(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::String(bytes)) => Ok(Some(bytes)),
            Some(_) => Err(WRONG_TYPE),
        }
    }

    /// The live hash of a key.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn hash(&mut self, key: &[u8]) -> Result<Option<&Fields>, Reply> {
        match self.get(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Hash(fields)) => Ok(Some(fields)),
            Some(_) => Err(WRONG_TYPE),
        }
    }

    /// Sets a key to a string, replacing whatever it held. It is a record if it was one or `record` says so.
    pub fn set(&mut self, key: &[u8], value: Vec<u8>, expires: Option<i64>, record: bool) {
        let record = match self.entries.get_mut(key) {
            Some(entry) => {
                let record = record || entry.record;
                let old = std::mem::replace(entry, Entry { value: Value::String(value), expires, record });
                self.volatile -= usize::from(old.expires.is_some());
                record
            }
            None => {
                self.entries.insert(key.to_vec(), Entry { value: Value::String(value), expires, record });
                record
            }
        };
        self.volatile += usize::from(expires.is_some());
        if record {
            self.effects.events.push(What::Created { key: name(key) });
        }
    }

    /// Changes a live string in place, or makes one without an expiry: a counter.
    pub fn set_counter(&mut self, key: &[u8], value: Vec<u8>) {
        match self.entries.get_mut(key) {
            Some(entry) => entry.value = Value::String(value),
            None => {
                let entry = Entry { value: Value::String(value), expires: None, record: false };
                self.entries.insert(key.to_vec(), entry);
            }
        }
    }

    /// Sets a field of a live hash, or makes the hash. True if the field is new.
    pub fn set_field(&mut self, key: &[u8], field: &[u8], value: &[u8]) -> bool {
        match self.entries.get_mut(key).map(|entry| &mut entry.value) {
            Some(Value::Hash(fields)) => fields.insert(field.to_vec(), value.to_vec()).is_none(),
            _ => {
                let fields = BTreeMap::from([(field.to_vec(), value.to_vec())]);
                let entry = Entry { value: Value::Hash(fields), expires: None, record: true };
                self.entries.insert(key.to_vec(), entry);
                self.effects.events.push(What::Created { key: name(key) });
                true
            }
        }
    }

    /// Removes a field of a live hash, and the hash with its last field. True if it was there.
    pub fn remove_field(&mut self, key: &[u8], field: &[u8]) -> bool {
        let Some(Entry { value: Value::Hash(fields), .. }) = self.entries.get_mut(key) else { return false };
        let removed = fields.remove(field).is_some();
        if fields.is_empty() {
            self.remove(key);
        }
        removed
    }

    /// Deletes a live key because somebody asked. True if it was there.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        if !self.look(key) {
            return false;
        }
        if self.take(key) {
            self.effects.events.push(What::Deleted { key: name(key) });
        }
        true
    }

    /// Deletes a key because its time is over, as a primary says or finds.
    pub fn remove_expired(&mut self, key: &[u8]) {
        if self.take(key) {
            self.effects.events.push(What::Expired { key: name(key) });
        }
    }

    /// Sets when a live key ends. False if there is no such key.
    pub fn expire_at(&mut self, key: &[u8], when: Option<i64>) -> bool {
        if !self.look(key) {
            return false;
        }
        let Some(entry) = self.entries.get_mut(key) else { return false };
        self.volatile -= usize::from(entry.expires.is_some());
        self.volatile += usize::from(when.is_some());
        entry.expires = when;
        if entry.record {
            self.effects.events.push(What::Extended { key: name(key) });
        }
        true
    }

    /// Deletes everything.
    pub fn clear(&mut self) {
        for (key, entry) in std::mem::take(&mut self.entries) {
            if entry.record {
                self.effects.events.push(What::Deleted { key: name(&key) });
            }
        }
        self.volatile = 0;
    }

    /// The active expiry cycle of a primary: deletes every dead key.
    pub fn expire_dead(&mut self) {
        let now = self.now_ms();
        let dead: Vec<Vec<u8>> =
            self.entries.iter().filter(|(_, entry)| entry.is_dead(now)).map(|(key, _)| key.clone()).collect();
        for key in dead {
            self.expire(&key);
        }
    }

    /// Notes a change for replicas and the append-only file.
    pub fn propagate(&mut self, args: &[&[u8]]) {
        resp::request(&mut self.effects.writes, args);
    }

    /// The whole dataset as commands that make it.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (key, entry) in &self.entries {
            let when = entry.expires.map(|when| when.to_string());
            match (&entry.value, &when) {
                (Value::String(value), Some(when)) if entry.record => {
                    resp::request(&mut out, &[b"SET", key, value, b"PXAT", when.as_bytes()]);
                    continue;
                }
                (Value::String(value), _) if entry.record => {
                    resp::request(&mut out, &[b"SET", key, value, b"NX"])
                }
                (Value::String(value), _) => resp::request(&mut out, &[b"SET", key, value]),
                (Value::Hash(fields), _) => {
                    let mut args: Vec<&[u8]> = vec![b"HSET", key];
                    args.extend(fields.iter().flat_map(|(field, value)| [field.as_slice(), value]));
                    resp::request(&mut out, &args);
                }
                (Value::List(_) | Value::Set(_) | Value::SortedSet(_), _) => {}
            }
            if let Some(when) = when {
                resp::request(&mut out, &[b"PEXPIREAT", key, when.as_bytes()]);
            }
        }
        out
    }

    /// Takes another dataset's entries instead of its own, as a full resynchronisation does. Records that vanish or
    /// change are lost; those that appear or change are created.
    pub fn replace(&mut self, other: Store) {
        let old = std::mem::replace(&mut self.entries, other.entries);
        self.volatile = other.volatile;
        let differs = |a: &Entry, b: Option<&Entry>| b.is_none_or(|b| a.value != b.value);
        for (key, entry) in &old {
            if entry.record && differs(entry, self.entries.get(key)) {
                self.effects.events.push(What::Lost { key: name(key) });
            }
        }
        for (key, entry) in &self.entries {
            if entry.record && differs(entry, old.get(key)) {
                self.effects.events.push(What::Created { key: name(key) });
            }
        }
    }

    /// True if the key is live. A primary deletes it if it is dead.
    fn look(&mut self, key: &[u8]) -> bool {
        let Some(entry) = self.entries.get(key) else { return false };
        if self.access == Access::Stream || !entry.is_dead(self.now_ms()) {
            return true;
        }
        if self.access == Access::Primary {
            self.expire(key);
        }
        false
    }

    /// Deletes a dead key and tells the replicas, by UNLINK as with `lazyfree-lazy-expire`, so that they can tell expiry
    /// from deletion.
    fn expire(&mut self, key: &[u8]) {
        self.remove_expired(key);
        self.propagate(&[b"UNLINK", key]);
    }

    /// Takes a key out. True if it was a record.
    fn take(&mut self, key: &[u8]) -> bool {
        let Some(entry) = self.entries.remove(key) else { return false };
        self.volatile -= usize::from(entry.expires.is_some());
        entry.record
    }
}

/// The reply to a command that fits another type of value.
pub const WRONG_TYPE: Reply =
    Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");

/// A key as events name it.
pub(crate) fn name(key: &[u8]) -> Key {
    Key::new(&String::from_utf8_lossy(key))
}
