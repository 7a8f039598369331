//! Planned statements.

use std::sync::Arc;

use super::function::Function;
use crate::protocol::{Type, Value};
use crate::server::data::{Key, Schema};
use crate::server::sql::{Operator, RowLock, Sequence, Statement, Strength};

/// The names and types of the columns of a result.
pub(crate) type Columns = Vec<(String, Type)>;

/// A statement that is ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    /// The SELECTs within it that stand for a value.
    pub(crate) subqueries: Vec<Query>,
    /// The columns of its result; none for a statement without rows.
    pub(crate) columns: Option<Columns>,
    /// The types of its parameters.
    pub(crate) params: Vec<Type>,
}

impl Plan {
    /// True for a statement whose result is sent while it is computed, its columns first. The rows of RETURNING come at the end;
    /// a SELECT of constants is computed while it is planned.
    pub(crate) fn is_sent_along(&self) -> bool {
        match &self.kind {
            Kind::Query(Query { items, from: None }) => {
                !self.subqueries.is_empty() || items.iter().any(Typed::calls)
            }
            kind => matches!(kind, Kind::Query(_)),
        }
    }
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
    CreateIndex {
        schema: Arc<Schema>,
        key: Key,
        if_not_exists: bool,
    },
    Insert(Insert),
    Query(Query),
    Update {
        write: Write,
        returning: Option<Vec<Typed>>,
    },
    Delete {
        schema: Arc<Schema>,
        filter: Option<Typed>,
        returning: Option<Vec<Typed>>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Insert {
    pub(crate) schema: Arc<Schema>,
    /// Rows with a value for each column.
    pub(crate) rows: Vec<Vec<Typed>>,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) items: Vec<Typed>,
    pub(crate) from: Option<From>,
}

/// Where the rows of a SELECT come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct From {
    pub(crate) schema: Arc<Schema>,
    pub(crate) filter: Option<Typed>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<Typed>,
    pub(crate) lock: Option<RowLock>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SortKey {
    pub(crate) value: Typed,
    pub(crate) descends: bool,
    pub(crate) nulls_first: bool,
}

/// An expression with its columns by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Const(Value),
    /// From 0.
    Param(usize),
    Column(usize),
    /// A column of the row that an INSERT proposed.
    Excluded(usize),
    Call(Function, Vec<Typed>),
    Binary {
        operator: Operator,
        left: Box<Typed>,
        right: Box<Typed>,
        ty: Type,
    },
    And(Box<Typed>, Box<Typed>),
    Or(Box<Typed>, Box<Typed>),
    Not(Box<Typed>),
    IsNull(Box<Typed>),
    In(Box<Typed>, Vec<Typed>),
    Case(Vec<(Typed, Typed)>, Option<Box<Typed>>),
    Convert(Box<Typed>, Type),
    /// The subquery of this number.
    Subquery(usize),
}

impl Typed {
    /// True if this or a part of it is so.
    pub(crate) fn any(&self, is: &dyn Fn(&Typed) -> bool) -> bool {
        if is(self) {
            return true;
        }
        match self {
            Typed::Const(_)
            | Typed::Param(_)
            | Typed::Column(_)
            | Typed::Excluded(_)
            | Typed::Subquery(_) => false,
            Typed::Call(_, args) => args.iter().any(|arg| arg.any(is)),
            Typed::Binary { left, right, .. } | Typed::And(left, right) | Typed::Or(left, right) => {
                left.any(is) || right.any(is)
            }
            Typed::Not(inner) | Typed::IsNull(inner) | Typed::Convert(inner, _) => inner.any(is),
            Typed::In(value, list) => value.any(is) || list.iter().any(|one| one.any(is)),
            Typed::Case(arms, otherwise) => {
                arms.iter().any(|(condition, value)| condition.any(is) || value.any(is))
                    || otherwise.as_ref().is_some_and(|value| value.any(is))
            }
        }
    }

    /// True if its value comes from this column, perhaps among others.
    pub(crate) fn reads(&self, column: usize) -> bool {
        self.any(&|part| *part == Typed::Column(column))
    }

    /// True if it calls a function.
    pub(crate) fn calls(&self) -> bool {
        self.any(&|part| matches!(part, Typed::Call(..)))
    }

    /// True if it has the same value for every row.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.any(&|part| {
            let varies = matches!(part, Typed::Column(_) | Typed::Excluded(_) | Typed::Subquery(_));
            varies || matches!(part, Typed::Call(function, _) if function.is_volatile())
        })
    }
}
