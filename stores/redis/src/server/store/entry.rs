//! The entry of a key besides its value: when it ends, when it was used.

use super::fields::Fields;
use super::value::{List, Members, SortedSet, Value};

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
    /// When it was last used, in seconds; under an LFU policy the minutes of the last decay and the counter.
    pub(super) used: u32,
}

/// When it was used makes no difference.
impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.value == other.value && self.expires == other.expires && self.record == other.record
    }
}

impl Entry {
    /// An entry that was just made.
    #[must_use]
    pub fn new(value: Value, expires: Option<i64>, record: bool) -> Entry {
        Entry { value, expires, record, used: 0 }
    }

    pub(super) fn is_dead(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|when| now_ms > when)
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
