//! The entry of a key besides its value: when it ends, how it is encoded, when it was used.
//!
//! Encodings have little effect here, but OBJECT ENCODING answers them. A collection that has outgrown its compact
//! encoding never returns to it, unless it is written out and read again.

use super::fields::Fields;
use super::value::{List, Members, SortedSet, Value};
use crate::protocol::resp;

/// How big a collection may be in its compact encoding: `hash-max-listpack-entries` and its kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// How many fields a hash may have, and how many bytes a field or a value.
    pub hash: (usize, usize),
    /// How many members a sorted set may have, and how many bytes a member.
    pub sorted_set: (usize, usize),
    /// How many members a set of integers may have.
    pub integers: usize,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { hash: (512, 64), sorted_set: (128, 64), integers: 512 }
    }
}

/// The longest string that lies in one piece with its header, in bytes.
const EMBEDDED_BYTES: usize = 44;

/// The cost of a key besides the bytes of its name and value: the entry of the table, the object, two string headers.
const KEY_OVERHEAD: usize = 72;
/// The cost of an element of a collection besides its bytes.
const ELEMENT_OVERHEAD: usize = 11;

/// A key's value and lease.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// When it ends, in milliseconds of the Unix epoch by the node's wall clock.
    pub expires: Option<i64>,
    /// True if store events report it.
    pub record: bool,
    /// How the value is encoded.
    pub(super) form: Form,
    /// When it was last used, in seconds; under an LFU policy the minutes of the last decay and the counter.
    pub(super) used: u32,
}

/// How a value is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// As compactly as it can be.
    #[default]
    Compact,
    /// A string that was not looked at whether it is an integer.
    Text,
    /// A string that was changed in place, a collection that was once too big.
    Grown,
}

/// When it was used, and how it is encoded, make no difference.
impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.value == other.value && self.expires == other.expires && self.record == other.record
    }
}

impl Entry {
    /// An entry that was just made, encoded by the default thresholds.
    #[must_use]
    pub fn new(value: Value, expires: Option<i64>, record: bool) -> Entry {
        let mut entry = Entry { value, expires, record, form: Form::Compact, used: 0 };
        entry.encode(&Thresholds::default());
        entry
    }

    /// Encodes the value as if it were new.
    pub(super) fn encode(&mut self, thresholds: &Thresholds) {
        let fits = match &mut self.value {
            Value::String(_) | Value::List(_) => true,
            Value::Hash(fields) => {
                let (len, bytes) = thresholds.hash;
                fields.len() <= len
                    && fields.iter().all(|(field, value)| field.len() <= bytes && value.len() <= bytes)
            }
            Value::Set(members) => {
                members.len() <= thresholds.integers
                    && members.iter().all(|member| resp::integer(member).is_some())
            }
            Value::SortedSet(set) => {
                let (len, bytes) = thresholds.sorted_set;
                let fits = set.len() <= len && set.iter().all(|(member, _)| member.len() <= bytes);
                if fits {
                    set.drop_minus_zeros();
                }
                fits
            }
        };
        self.form = if fits { Form::Compact } else { Form::Grown };
    }

    pub(super) fn is_dead(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|when| now_ms > when)
    }

    /// The encoding as OBJECT ENCODING names it.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match (&self.value, self.form) {
            (Value::String(bytes), Form::Compact) if resp::integer(bytes).is_some() => "int",
            (Value::String(bytes), Form::Compact | Form::Text) if bytes.len() <= EMBEDDED_BYTES => "embstr",
            (Value::String(_), _) => "raw",
            (Value::List(_), _) => "quicklist",
            (Value::Hash(_) | Value::Set(_), Form::Grown) => "hashtable",
            (Value::SortedSet(_), Form::Grown) => "skiplist",
            (Value::Set(_), _) => "intset",
            (Value::Hash(_) | Value::SortedSet(_), _) => "listpack",
        }
    }

    /// True if the value is in one piece, which the scan commands return at once.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        self.form != Form::Grown
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

/// A collection to be changed, together with what has to be updated when it grows.
#[derive(Debug)]
pub struct Slot<'a, T> {
    /// The collection.
    pub value: &'a mut T,
    /// How it is encoded.
    pub(super) form: &'a mut Form,
    /// How big it may be in its compact encoding.
    pub(super) thresholds: &'a Thresholds,
}

impl<T> Slot<'_, T> {
    /// Takes the value out of its compact encoding: a string that was changed in place, a collection that has to be
    /// walked through.
    pub fn unpack(&mut self) {
        *self.form = Form::Grown;
    }

    fn unpack_if(&mut self, too_big: bool) {
        if too_big {
            self.unpack();
        }
    }
}

impl Slot<'_, Vec<u8>> {
    /// Replaces the string by a number, of which it is known whether it is an integer.
    pub fn replace(&mut self, number: Vec<u8>, integer: bool) {
        *self.value = number;
        *self.form = if integer { Form::Compact } else { Form::Text };
    }
}

impl Slot<'_, Fields> {
    /// Sets a field. True if it is new.
    pub fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        let new = self.value.insert(field.to_vec(), value.to_vec()).is_none();
        let (len, bytes) = self.thresholds.hash;
        self.unpack_if(self.value.len() > len || field.len() > bytes || value.len() > bytes);
        new
    }
}

impl Slot<'_, Members> {
    /// Adds a member. True if it is new.
    pub fn add(&mut self, member: &[u8]) -> bool {
        let new = self.value.insert(member.to_vec());
        self.unpack_if(self.value.len() > self.thresholds.integers || resp::integer(member).is_none());
        new
    }
}

impl Slot<'_, SortedSet> {
    /// Sets a member's score; returns the one that it had. A minus zero is not kept in the compact encoding.
    pub fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let new = self.value.score(member).is_none();
        let (len, bytes) = self.thresholds.sorted_set;
        self.unpack_if(new && (self.value.len() >= len || member.len() > bytes));
        let score = if *self.form == Form::Compact { score + 0.0 } else { score };
        self.value.insert(member, score)
    }
}
