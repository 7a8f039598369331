//! Planned statements.

use std::sync::Arc;

use super::function::Function;
use super::system::System;
use crate::protocol::{Type, Value};
use crate::server::data::{Key, Routine, Schema};
use crate::server::sql::{Operator, RowLock, Sequence, Statement, Strength};

/// The names and types of the columns of a result.
pub(crate) type Columns = Vec<(String, Type)>;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) items: Vec<Typed>,
    /// The one table that its rows come from.
    pub(crate) from: Option<From>,
    /// Where its rows come from, if that is no one table or they are not shown one by one.
    pub(crate) wide: Option<Wide>,
    /// True if its rows depend on the row around it.
    pub(crate) depends: bool,
}

impl Query {
    /// True if an expression of it names a column of the row around it.
    pub(super) fn reads_around(&self) -> bool {
        let reads = |expr: &Typed| expr.any(&|part| matches!(part, Typed::Outer(_)));
        let sorts = |keys: &[SortKey]| keys.iter().any(|key| reads(&key.value));
        self.items.iter().any(reads)
            || self
                .from
                .as_ref()
                .is_some_and(|from| from.filter.as_ref().is_some_and(reads) || sorts(&from.order))
            || self.wide.as_ref().is_some_and(|wide| {
                wide.filter.as_ref().is_some_and(reads)
                    || sorts(&wide.order)
                    || wide.sources.iter().filter_map(|source| source.on.as_ref()).any(reads)
                    || wide.aggregates.iter().filter_map(|(_, value)| value.as_ref()).any(reads)
                    || wide.sets.iter().any(reads)
                    || wide.numbers.iter().any(|one| one.partition.iter().any(reads) || sorts(&one.order))
            })
    }
}

/// Rows that are all found before the first one is shown: those of several tables, of a statement of WITH, of the catalogue; and those
/// that are counted. None of them is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) sources: Vec<Source>,
    pub(crate) filter: Option<Typed>,
    /// The aggregates; they are the columns that the items name, if there are any.
    pub(crate) aggregates: Vec<(Aggregate, Option<Typed>)>,
    /// What the rows are numbered by; the numbers come behind its columns.
    pub(crate) numbers: Vec<Numbering>,
    /// Arrays whose elements make rows of each row; they come behind its columns.
    pub(crate) sets: Vec<Typed>,
    pub(crate) distinct: bool,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<Typed>,
}

/// How rows are numbered: those of the same values together, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub(crate) partition: Vec<Typed>,
    pub(crate) order: Vec<SortKey>,
    /// True if each is given the number of all of them.
    pub(crate) counts: bool,
}

/// A table of a statement with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) origin: Origin,
    pub(crate) schema: Arc<Schema>,
    pub(crate) on: Option<Typed>,
    /// True if a row of the tables before it stays where it has none.
    pub(crate) left: bool,
}

/// Where the rows of a table come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Table,
    /// The statement of WITH of this number.
    Part(usize),
    Catalogue(System),
    /// The elements of an array.
    Unnest(Typed),
    /// The objects of an array of JSON.
    Records(Typed, Columns),
    /// The rows of these subqueries one after another; where not true, each row once.
    Queries(Vec<(bool, usize)>),
}

/// A value of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Count,
    Max,
    Min,
    /// All values, nulls among them, as an array.
    Array,
}

impl Aggregate {
    pub(super) fn named(name: &str) -> Option<Aggregate> {
        match name {
            "count" => Some(Aggregate::Count),
            "max" => Some(Aggregate::Max),
            "min" => Some(Aggregate::Min),
            "array_agg" => Some(Aggregate::Array),
            _ => None,
        }
    }
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
    /// A column of the row around a subquery.
    Outer(usize),
    /// True if an INSERT has changed a row that was there.
    Updated,
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
    /// IS DISTINCT FROM.
    Distinct(Box<Typed>, Box<Typed>),
    In(Box<Typed>, Vec<Typed>),
    Case(Vec<(Typed, Typed)>, Option<Box<Typed>>),
    Convert(Box<Typed>, Type),
    /// The subquery of this number.
    Subquery(usize),
    /// The values of the subquery of this number as an array.
    ArrayQuery(usize),
    /// True if a value is among those of the subquery of this number.
    InQuery(Box<Typed>, usize),
    /// True if the subquery of this number has a row.
    Exists(usize),
    /// True if the comparison holds for an element of the array.
    AnyOf {
        operator: Operator,
        value: Box<Typed>,
        array: Box<Typed>,
    },
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
            | Typed::Outer(_)
            | Typed::Updated
            | Typed::Exists(_)
            | Typed::ArrayQuery(_)
            | Typed::Subquery(_) => false,
            Typed::Call(_, args) => args.iter().any(|arg| arg.any(is)),
            Typed::Binary { left, right, .. }
            | Typed::And(left, right)
            | Typed::Or(left, right)
            | Typed::Distinct(left, right) => left.any(is) || right.any(is),
            Typed::Not(inner)
            | Typed::IsNull(inner)
            | Typed::Convert(inner, _)
            | Typed::InQuery(inner, _) => inner.any(is),
            Typed::AnyOf { value, array, .. } => value.any(is) || array.any(is),
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

    /// True if a text is read as a label of an enum, which is not done before the statement is executed.
    fn reads_labels(&self) -> bool {
        self.any(&|part| matches!(part, Typed::Convert(_, Type::Enum(_))))
    }

    /// True if it has the same value for every row.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.any(&|part| {
            let varies = matches!(
                part,
                Typed::Column(_)
                    | Typed::Excluded(_)
                    | Typed::Updated
                    | Typed::Outer(_)
                    | Typed::ArrayQuery(_)
                    | Typed::Subquery(_)
                    | Typed::InQuery(..)
                    | Typed::Exists(_)
            );
            varies || matches!(part, Typed::Call(function, _) if function.is_volatile())
        })
    }
}
