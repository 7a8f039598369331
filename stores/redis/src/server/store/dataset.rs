//! The databases of a node, and how commands read and change what is in them.

use std::collections::BTreeMap;

use picklock_model::ids::Key;
use picklock_model::time::WallTime;
use picklock_model::trace::What;

use super::effects::{Change, Effects};
use super::entry::{Entry, Kind};
use super::fields::Fields;
use super::policy::Policy;
use super::random::Random;
use super::value::Value;
use crate::protocol::resp::{self, Reply};
use crate::server::version::Version;

/// How many databases a node has.
pub const DATABASES: usize = 16;

/// The number of a database, as SELECT has it in a stream or a file; `None` if there is none of this number.
pub(crate) fn database(digits: &[u8]) -> Option<usize> {
    let number = resp::integer(digits).and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number < DATABASES)
}

type Entries = BTreeMap<Vec<u8>, Entry>;

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
    pub(super) databases: Box<[Entries; DATABASES]>,
    /// How many entries of all databases have an expiry.
    pub(super) volatile: usize,
    /// The database of the command at hand, below [`DATABASES`].
    pub selected: usize,
    /// The node's wall clock at the command at hand. It does not move while a script runs.
    pub now: WallTime,
    /// How much time has passed within the command at hand, in microseconds, and how often it has asked.
    pub elapsed_us: u64,
    pub(super) questions: u32,
    /// Whose command it is.
    pub access: Access,
    /// The effects so far.
    pub effects: Effects,
    /// The changes of keys so far; nothing is noted while nobody is `watching`.
    pub changes: Vec<Change>,
    /// True while some client watches keys, waits for them, or may listen to keyspace notifications.
    pub watching: bool,
    /// Which version of Redis it behaves like.
    pub version: Version,
    /// The policy of eviction when memory is short; it also decides what is kept of a key's use.
    pub policy: Policy,
    /// The counters of keys for INFO.
    pub counts: Counts,
    /// Where the sequence of random choices is.
    pub(super) random: u64,
    /// Where the sequence of random numbers for scripts is.
    pub(crate) script_random: Random,
}

/// How often something was the case with a key, since the start or CONFIG RESETSTAT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// A key that was read was there.
    pub hits: u64,
    /// A key that was read was not there.
    pub misses: u64,
    /// A dead key was deleted.
    pub expired: u64,
    /// A key was evicted.
    pub evicted: u64,
}

impl Store {
    /// An empty dataset of a node of this version, at this time.
    pub(crate) fn blank(version: Version, now: WallTime) -> Store {
        Store { version, now, ..Store::default() }
    }

    /// The node's wall clock in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.now.as_millis()).unwrap_or(i64::MAX)
    }

    /// The number of keys of the selected database, dead ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.current().len()
    }

    /// True if the selected database has no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.current().is_empty()
    }

    /// True while some key has an expiry.
    #[must_use]
    pub fn has_volatile(&self) -> bool {
        self.volatile > 0
    }

    /// The entries of all databases, dead ones included, by database and key.
    pub fn all(&self) -> impl Iterator<Item = (usize, &[u8], &Entry)> {
        let databases = self.databases.iter().enumerate();
        databases
            .flat_map(|(at, entries)| entries.iter().map(move |(key, entry)| (at, key.as_slice(), entry)))
    }

    /// The entries of all databases, dead ones included.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &Entry)> {
        self.all().map(|(_, key, entry)| (key, entry))
    }

    /// The keys of the selected database that are not dead, in order.
    pub fn live_keys(&self) -> impl Iterator<Item = (&[u8], &Entry)> {
        let (now, judged) = (self.now_ms(), self.access != Access::Stream);
        let live = move |entry: &Entry| !(judged && entry.is_dead(now));
        self.current()
            .iter()
            .filter(move |(_, entry)| live(entry))
            .map(|(key, entry)| (key.as_slice(), entry))
    }

    pub(super) fn current(&self) -> &Entries {
        &self.databases[self.selected]
    }

    pub(super) fn current_mut(&mut self) -> &mut Entries {
        &mut self.databases[self.selected]
    }

    /// The live entry of a key that a command reads: the key counts as used.
    pub fn get(&mut self, key: &[u8]) -> Option<&Entry> {
        if !self.read_live(key) {
            return None;
        }
        self.use_key(key)
    }

    /// The live entry of a key that a command asks about without using the value.
    pub fn peek(&mut self, key: &[u8]) -> Option<&Entry> {
        if self.read_live(key) { self.current().get(key) } else { None }
    }

    /// The live entry of a key that a command is about to write.
    pub fn find(&mut self, key: &[u8]) -> Option<&Entry> {
        if !self.live(key) {
            return None;
        }
        self.use_key(key)
    }

    /// The live value of a key that a command reads.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn read<T: Kind>(&mut self, key: &[u8]) -> Result<Option<&T>, Reply> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => T::of(&entry.value).map(Some).ok_or(WRONG_TYPE),
        }
    }

    /// The live value of a key that a command is about to write, as it is.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn found<T: Kind>(&mut self, key: &[u8]) -> Result<Option<&T>, Reply> {
        match self.find(key) {
            None => Ok(None),
            Some(entry) => T::of(&entry.value).map(Some).ok_or(WRONG_TYPE),
        }
    }

    /// The live value of a key, to be changed. Who may have taken the last element of a collection calls
    /// [`Store::tidy`] afterwards.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn edit<T: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut T>, Reply> {
        if !self.live(key) {
            return Ok(None);
        }
        self.slot(key).map(Some)
    }

    /// The live value of a key, to be changed; an empty one is made if there is none.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn make<T: Kind>(&mut self, key: &[u8]) -> Result<&mut T, Reply> {
        if !self.live(key) {
            self.put(key, Entry::new(T::empty(), None, T::RECORD));
        }
        self.slot(key)
    }

    fn slot<T: Kind>(&mut self, key: &[u8]) -> Result<&mut T, Reply> {
        self.use_key(key);
        let entry = self.databases[self.selected].get_mut(key).ok_or(WRONG_TYPE)?;
        T::of_mut(&mut entry.value).ok_or(WRONG_TYPE)
    }

    /// Deletes a collection that has become empty. True if it had.
    pub fn tidy<T: Kind>(&mut self, key: &[u8]) -> bool {
        let empty = |entry: &Entry| T::of(&entry.value).is_some_and(Kind::is_void);
        if !self.current().get(key).is_some_and(empty) {
            return false;
        }
        self.delete(key);
        self.changed(b'g', "del", key);
        true
    }

    /// The live string of a key.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn string(&mut self, key: &[u8]) -> Result<Option<&Vec<u8>>, Reply> {
        self.read(key)
    }

    /// The live hash of a key.
    ///
    /// # Errors
    /// The reply to give when the key holds another type.
    pub fn hash(&mut self, key: &[u8]) -> Result<Option<&Fields>, Reply> {
        self.read(key)
    }

    /// Sets a key to a string, replacing whatever it held. It is a record if it was one or `record` says so.
    pub fn set(&mut self, key: &[u8], value: Vec<u8>, expires: Option<i64>, record: bool) {
        self.put(key, Entry::new(Value::String(value), expires, record));
    }

    /// Sets a key to a value that was just made, replacing whatever it held.
    pub fn create(&mut self, key: &[u8], value: Value, expires: Option<i64>, record: bool) {
        self.put(key, Entry::new(value, expires, record));
    }

    /// Sets a key, replacing whatever it held. A record stays one.
    pub fn put(&mut self, key: &[u8], mut entry: Entry) {
        entry.used = self.first_use();
        self.volatile += usize::from(entry.expires.is_some());
        let record = match self.databases[self.selected].get_mut(key) {
            Some(old) => {
                entry.record |= old.record;
                let record = entry.record;
                let old = std::mem::replace(old, entry);
                self.volatile -= usize::from(old.expires.is_some());
                record
            }
            None => {
                let record = entry.record;
                self.current_mut().insert(key.to_vec(), entry);
                self.noticed(b'n', "new", key);
                record
            }
        };
        if record {
            self.effects.events.push(What::Created { key: name(key) });
        }
    }

    /// Deletes a live key because somebody asked. True if it was there.
    ///
    /// The stream says DEL of deleted and of expired keys alike: a key that is dead by now has expired.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        if !self.live(key) {
            return false;
        }
        let now = self.now_ms();
        if self.access == Access::Stream && self.current().get(key).is_some_and(|entry| entry.is_dead(now)) {
            self.remove_expired(key);
            return true;
        }
        self.delete(key)
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        let Some(entry) = self.current_mut().remove(key) else { return false };
        self.volatile -= usize::from(entry.expires.is_some());
        if entry.record {
            self.effects.events.push(What::Deleted { key: name(key) });
        }
        true
    }

    /// Deletes all keys of the selected database; their number.
    pub fn clear_selected(&mut self) -> usize {
        let count = self.empty_selected();
        self.flushed();
        count
    }

    fn empty_selected(&mut self) -> usize {
        let entries = std::mem::take(self.current_mut());
        let count = entries.len();
        for (key, entry) in entries {
            self.volatile -= usize::from(entry.expires.is_some());
            if entry.record {
                self.effects.events.push(What::Deleted { key: name(&key) });
            }
            self.touched(self.selected, &key);
        }
        count
    }

    /// Deletes everything; how many keys that were.
    pub fn clear(&mut self) -> usize {
        let selected = self.selected;
        let mut count = 0;
        for database in 0..DATABASES {
            self.selected = database;
            count += self.empty_selected();
        }
        self.selected = selected;
        self.flushed();
        count
    }

    /// Takes another dataset's entries instead of its own, as a full resynchronisation does. Records that vanish or
    /// change are lost; those that appear or change are created; of those that no longer run out the lease is lost.
    pub fn replace(&mut self, other: Store) {
        let old = std::mem::replace(&mut self.databases, other.databases);
        self.volatile = other.volatile;
        for (old, new) in old.iter().zip(self.databases.iter_mut()) {
            for (key, entry) in new {
                entry.record |= old.get(key).is_some_and(|old| old.record && old.value == entry.value);
            }
        }
        let differs = |a: &Entry, b: Option<&Entry>| b.is_none_or(|b| a.value != b.value);
        for (old, new) in old.iter().zip(self.databases.iter()) {
            for (key, entry) in old {
                let kept = new.get(key);
                if entry.record && differs(entry, kept) {
                    self.effects.events.push(What::Lost { key: name(key) });
                } else if entry.record
                    && entry.expires.is_some()
                    && kept.is_some_and(|new| new.expires.is_none())
                {
                    self.effects.events.push(What::LeaseLost { key: name(key) });
                }
            }
            for (key, entry) in new {
                if entry.record && old.get(key).is_none_or(|old| !old.record || old.value != entry.value) {
                    self.effects.events.push(What::Created { key: name(key) });
                }
            }
        }
        if self.watching {
            let keys = |entries: &Entries| entries.keys().cloned().collect::<Vec<_>>();
            for (database, old) in old.iter().enumerate() {
                for key in keys(old).into_iter().chain(keys(&self.databases[database])) {
                    self.touched(database, &key);
                }
            }
        }
        self.flushed();
    }

    /// Begins another sequence of random choices.
    pub fn seed_choices(&mut self, seed: u64) {
        self.random = seed;
    }

    /// A number from 0 to, but not including, `below`, which is not 0. The sequence is the same in every run.
    pub fn random_below(&mut self, below: usize) -> usize {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % below.max(1) as u64).unwrap_or(0)
    }
}

/// The reply to a command that fits another type of value.
pub const WRONG_TYPE: Reply =
    Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");

/// A key as events name it.
pub(super) fn name(key: &[u8]) -> Key {
    Key::new(&String::from_utf8_lossy(key))
}
