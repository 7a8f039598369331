//! Planned statements.

use std::sync::Arc;

use super::typed::{Columns, Query, Source, Typed};
use crate::protocol::Type;
use crate::server::data::{Key, Routine, Schema};
use crate::server::sql::{Sequence, Statement, Strength};

/// A statement that is ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    /// The SELECTs within it that stand for a value.
    pub(crate) subqueries: Vec<Query>,
    /// The statements of WITH.
    pub(crate) parts: Vec<Part>,
    /// The columns of its result; none for a statement without rows.
    pub(crate) columns: Option<Columns>,
    /// The types of its parameters.
    pub(crate) params: Vec<Type>,
}

impl Plan {
    /// True for a statement whose result is sent while it is computed, its columns first. The rows of RETURNING come at the end;
    /// a SELECT of constants is computed while it is planned.
    pub(crate) fn is_sent_along(&self) -> bool {
        if self.parts.iter().any(|part| part.kind.changes()) {
            return false;
        }
        match &self.kind {
            Kind::Query(Query { items, from: None, wide: None, .. }) => {
                !self.subqueries.is_empty() || items.iter().any(|item| item.calls() || item.reads_labels())
            }
            kind => matches!(kind, Kind::Query(_)),
        }
    }
}

/// A statement of WITH, and the columns of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) schema: Arc<Schema>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A statement about the session or its transaction.
    Control(Statement),
    CreateTable {
        schema: Arc<Schema>,
        if_not_exists: bool,
        /// The sequences of its columns.
        sequences: Vec<String>,
    },
    CreateSequence {
        sequence: Sequence,
        if_not_exists: bool,
    },
    CreateDomain {
        name: String,
        ty: Type,
    },
    CreateEnum {
        name: String,
        labels: Vec<String>,
    },
    CreateRoutine {
        routine: Arc<Routine>,
        replaces: bool,
    },
    /// A unique index; without a key one that is not unique, and that nothing depends on.
    CreateIndex {
        schema: Arc<Schema>,
        key: Option<Key>,
        if_not_exists: bool,
    },
    Insert(Insert),
    Query(Query),
    Update {
        write: Write,
        /// The tables of FROM.
        from: Vec<Source>,
        returning: Option<Vec<Typed>>,
    },
    Delete {
        schema: Arc<Schema>,
        /// The tables of USING.
        from: Vec<Source>,
        filter: Option<Typed>,
        returning: Option<Vec<Typed>>,
    },
}

impl Kind {
    /// True if it is about rows, and changes them.
    pub(crate) fn changes(&self) -> bool {
        matches!(self, Kind::Insert(_) | Kind::Update { .. } | Kind::Delete { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Insert {
    pub(crate) schema: Arc<Schema>,
    /// Rows with a value for each column.
    pub(crate) rows: Vec<Vec<Typed>>,
    /// The subquery whose rows the one row is computed of.
    pub(crate) from: Option<usize>,
    pub(crate) arbiter: Arbiter,
    pub(crate) returning: Option<Vec<Typed>>,
}

/// The reaction to a row whose key is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arbiter {
    /// Fails.
    None,
    /// Leaves it, where it is the key of this number; of any without one.
    Nothing(Option<usize>),
    /// Changes it.
    Update(usize, Write),
}

/// A change of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) schema: Arc<Schema>,
    pub(crate) sets: Vec<(usize, Typed)>,
    pub(crate) filter: Option<Typed>,
    /// The strength of the lock of a row that is changed after a wait.
    pub(crate) strength: Strength,
}
