//! What belongs to a key besides its value: when it ends, how it is encoded, when it was used.
//!
//! Encodings have no effect here, but OBJECT ENCODING tells of them, by the default thresholds of Redis 7.0
//! (`hash-max-listpack-entries` and its kin). A collection that has outgrown its compact encoding never returns to it.

use super::{Fields, List, Members, SortedSet, Value};
use crate::servers::redis::resp;

/// A compact hash or sorted set has at most so many elements.
const COMPACT_LEN: usize = 128;
/// No element of a compact hash or sorted set is longer, in bytes.
const COMPACT_BYTES: usize = 64;
/// A set of integers has at most so many.
const INTEGERS_LEN: usize = 512;
/// The longest string that lies in one piece with its header, in bytes.
const EMBEDDED_BYTES: usize = 44;

/// What a key costs besides the bytes of its name and value: the entry of the table, the object, two string headers.
const KEY_OVERHEAD: usize = 72;
/// What an element of a collection costs besides its bytes.
const ELEMENT_OVERHEAD: usize = 11;

/// A key's value and lease.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it holds.
    pub value: Value,
    /// When it ends, in milliseconds of the Unix epoch by the node's wall clock.
    pub expires: Option<i64>,
    /// True if store events tell of it.
    pub record: bool,
    /// True if the value is not in its compact encoding: a string changed in place, a collection that was once too big.
    pub(super) grown: bool,
    /// When it was last used, in seconds; under an LFU policy the minutes of the last decay and the counter.
    pub(super) used: u32,
}

/// When it was used, and how it is encoded, make no difference.
impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.value == other.value && self.expires == other.expires && self.record == other.record
    }
}

impl Entry {
    /// An entry that was just made.
    #[must_use]
    pub fn new(value: Value, expires: Option<i64>, record: bool) -> Entry {
        let grown = match &value {
            Value::String(_) | Value::List(_) => false,
            Value::Hash(fields) => {
                let long = |(field, value): (&Vec<u8>, &Vec<u8>)| is_long(field) || is_long(value);
                fields.len() > COMPACT_LEN || fields.iter().any(long)
            }
            Value::Set(members) => {
                members.len() > INTEGERS_LEN || members.iter().any(|member| resp::integer(member).is_none())
            }
            Value::SortedSet(set) => set.len() > COMPACT_LEN || set.iter().any(|(member, _)| is_long(member)),
        };
        Entry { value, expires, record, grown, used: 0 }
    }

    pub(super) fn is_dead(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|when| now_ms > when)
    }

    /// The encoding as OBJECT ENCODING names it.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match (&self.value, self.grown) {
            (Value::String(bytes), false) if resp::integer(bytes).is_some() => "int",
            (Value::String(bytes), false) if bytes.len() <= EMBEDDED_BYTES => "embstr",
            (Value::String(_), _) => "raw",
            (Value::List(_), _) => "quicklist",
            (Value::Set(_), false) => "intset",
            (Value::Hash(_) | Value::SortedSet(_), false) => "listpack",
            (Value::Hash(_) | Value::Set(_), true) => "hashtable",
            (Value::SortedSet(_), true) => "skiplist",
        }
    }

    /// True if the value is in one piece, which the scan commands return at once.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        !self.grown
    }

    /// About how many bytes of memory the entry takes, its key's name not counted.
    #[must_use]
    pub fn memory(&self) -> usize {
        let element = |bytes: &Vec<u8>| bytes.len() + ELEMENT_OVERHEAD;
        KEY_OVERHEAD
            + match &self.value {
                Value::String(bytes) => bytes.len(),
                Value::List(list) => list.iter().map(element).sum(),
                Value::Set(members) => members.iter().map(element).sum(),
                Value::SortedSet(set) => {
                    set.iter().map(|(member, _)| member.len() + 3 * ELEMENT_OVERHEAD).sum()
                }
                Value::Hash(fields) => {
                    fields.iter().map(|(field, value)| element(field) + element(value)).sum()
                }
            }
    }
}

fn is_long(element: &[u8]) -> bool {
    element.len() > COMPACT_BYTES
}

/// A type of value that keys hold.
pub trait Kind: Sized {
    /// True if a key of this type is a record.
    const RECORD: bool;
    /// The value as this type, if it is of this type.
    fn of(value: &Value) -> Option<&Self>;
    /// The same, to be changed.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    /// A value of this type with nothing in it.
    fn empty() -> Value;
    /// True if nothing is in it.
    fn is_void(&self) -> bool;
}

macro_rules! kind {
    ($type:ty, $variant:ident, $record:literal) => {
        impl Kind for $type {
            const RECORD: bool = $record;

            fn of(value: &Value) -> Option<&Self> {
                if let Value::$variant(inner) = value { Some(inner) } else { None }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(inner) = value { Some(inner) } else { None }
            }

            fn empty() -> Value {
                Value::$variant(Self::default())
            }

            fn is_void(&self) -> bool {
                self.is_empty()
            }
        }
    };
}

kind!(Vec<u8>, String, false);
kind!(List, List, false);
kind!(Members, Set, false);
kind!(SortedSet, SortedSet, false);
kind!(Fields, Hash, true);

/// A collection to be changed, together with what it has to be told when it grows.
#[derive(Debug)]
pub struct Slot<'a, T> {
    /// The collection.
    pub value: &'a mut T,
    /// True if it has left its compact encoding.
    pub(super) grown: &'a mut bool,
}

impl Slot<'_, Vec<u8>> {
    /// The string was changed in place.
    pub fn changed_in_place(&mut self) {
        *self.grown = true;
    }

    /// The string was replaced by a new one.
    pub fn replaced(&mut self) {
        *self.grown = false;
    }
}

impl Slot<'_, Fields> {
    /// Sets a field. True if it is new.
    pub fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        let new = self.value.insert(field.to_vec(), value.to_vec()).is_none();
        *self.grown |= is_long(field) || is_long(value) || self.value.len() > COMPACT_LEN;
        new
    }
}

impl Slot<'_, Members> {
    /// Adds a member. True if it is new.
    pub fn add(&mut self, member: &[u8]) -> bool {
        let new = self.value.insert(member.to_vec());
        *self.grown |= self.value.len() > INTEGERS_LEN || resp::integer(member).is_none();
        new
    }
}

impl Slot<'_, SortedSet> {
    /// Takes the set out of its compact encoding.
    pub fn unpack(&mut self) {
        *self.grown = true;
    }

    /// Sets a member's score; returns the one that it had.
    pub fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let old = self.value.insert(member, score);
        *self.grown |= is_long(member) || self.value.len() > COMPACT_LEN;
        old
    }
}
