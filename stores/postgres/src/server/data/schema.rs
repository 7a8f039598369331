//! The columns and the keys of a table.

use std::sync::Arc;

use crate::protocol::{Type, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) name: Arc<str>,
    pub(crate) columns: Vec<Column>,
    /// The unique indexes in the order of their creation.
    pub(crate) keys: Vec<Key>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) not_null: bool,
    pub(crate) default: Default,
    /// True if an INSERT must leave its value to the sequence.
    pub(crate) always: bool,
}

/// The value of a column that an INSERT does not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Value(Value),
    /// The next value of this sequence.
    Next(String),
    /// When the transaction began.
    Now,
    /// The time.
    Clock,
}

/// A unique index; the primary key is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) primary: bool,
    /// The indexes of its columns.
    pub(crate) columns: Vec<usize>,
}

impl Key {
    /// The values of a row in this index; none if one of them is null, which is like no other.
    pub(crate) fn of(&self, row: &[Value]) -> Option<Vec<Value>> {
        let value = |at: &usize| row.get(*at).filter(|value| **value != Value::Null).cloned();
        self.columns.iter().map(value).collect()
    }
}

impl Schema {
    /// A row's primary key as text, its columns separated by commas; none of a table without one.
    pub(crate) fn name_of(&self, row: &[Value]) -> Option<String> {
        let key = self.keys.iter().find(|key| key.primary)?;
        let values = key.of(row)?;
        Some(values.iter().filter_map(Value::text).collect::<Vec<_>>().join(","))
    }

    /// True if a column belongs to a key: who changes it needs the strongest lock of the row.
    pub(crate) fn is_key_column(&self, at: usize) -> bool {
        self.keys.iter().any(|key| key.columns.contains(&at))
    }
}
