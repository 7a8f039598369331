//! The events of rows in the trace: some rows are locks, and some are the guarded resource.
//!
//! A row that SELECT ... FOR UPDATE (or FOR NO KEY UPDATE) locks is a lock's record for as long, and so is an advisory lock
//! that a session has alone. A row of one table is a lock's record while it is there: whoever has inserted it holds, whatever
//! becomes of its session. Rows of another table are registers of the guarded resource: reading one reads the register, and a
//! transaction that changed one has written it when it commits, because nobody sees it before. A row that is inserted there
//! is a register as it was in the beginning, and no write.

use std::collections::BTreeMap;

use picklock_model::ids::Key;
use picklock_model::trace::What;

use crate::protocol::Value;
use crate::server::data::{Row, Schema};
use crate::server::locks::{Advisory, Tag};

/// The table whose rows are registers: by their primary key, the value in this column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// The table.
    pub table: String,
    /// The column, of an integer type.
    pub column: String,
    /// The table whose rows are locks for as long as they are there.
    pub locks: String,
    /// True if the rows of known tables are locks until their leases are over by the server's clock.
    pub leases: bool,
}

impl Default for Guarded {
    fn default() -> Guarded {
        Guarded {
            table: "resource".to_owned(),
            column: "value".to_owned(),
            locks: "lock_row".to_owned(),
            leases: false,
        }
    }
}

/// A lease that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// When it is over, in microseconds since 2000.
    pub(crate) until: i64,
    pub(crate) owner: Option<String>,
}

/// The leases that run, by the names of their rows.
pub(crate) type Leases = BTreeMap<String, Lease>;

/// An act on a row.
pub(crate) enum Deed<'a> {
    Locked,
    Unlocked,
    /// These columns of it were read.
    Read(&'a Row, &'a [usize]),
    Changed(&'a Row),
    /// It is what the server goes on from.
    Restored(&'a Row),
    /// Its insertion was committed.
    Inserted,
    /// Its deletion was committed.
    Deleted,
}

/// The event for the trace, if there is one.
pub(crate) fn event_of(guarded: &Guarded, schema: &Schema, name: &str, deed: &Deed<'_>) -> Option<What> {
    let key = Key::new(name);
    let register = || {
        let column = || schema.columns.iter().position(|column| column.name == guarded.column);
        if *schema.name == *guarded.table { column() } else { None }
    };
    let held = |row: &Row, at: usize| match row.get(at) {
        Some(Value::Int(value)) => Some(*value),
        _ => None,
    };
    match deed {
        Deed::Locked => Some(What::Created { key }),
        Deed::Unlocked => Some(What::Deleted { key }),
        Deed::Inserted => (*schema.name == *guarded.locks).then_some(What::Created { key }),
        Deed::Deleted => (*schema.name == *guarded.locks).then_some(What::Deleted { key }),
        Deed::Read(row, columns) => {
            let value = held(row, register().filter(|at| columns.contains(at))?)?;
            Some(What::ResourceRead { key, value, token: None })
        }
        Deed::Changed(row) => {
            let value = held(row, register()?)?;
            Some(What::ResourceWritten { key, value, token: None })
        }
        Deed::Restored(row) => {
            let value = held(row, register()?)?;
            Some(What::ResourceRestored { key, value })
        }
    }
}

/// The key of an advisory lock in the trace, none of another lock: the text of which `hashtext` has made its number, if one did.
pub(crate) fn advisory_key(tag: &Tag, hashed: &BTreeMap<i64, String>) -> Option<Key> {
    match tag {
        Tag::Advisory(Advisory::One(number)) => Some(match hashed.get(number) {
            Some(text) => Key::new(text),
            None => Key::new(&format!("advisory {number}")),
        }),
        Tag::Advisory(Advisory::Two(a, b)) => Some(Key::new(&format!("advisory {a},{b}"))),
        Tag::Row(_) => None,
    }
}
