//! Planned SELECTs and expressions.

use std::sync::Arc;

use super::function::Function;
use super::system::System;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::Schema;
use crate::server::deep::{Child, Children, Extent, Tree};
use crate::server::sql::{Operator, RowLock};

/// The names and types of the columns of a result.
pub(crate) type Columns = Vec<(String, Type)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) items: Vec<Typed>,
    /// The one table that its rows come from.
    pub(crate) from: Option<From>,
    /// Where its rows come from, if that is no one table or they are not shown one by one.
    pub(crate) wide: Option<Box<Wide>>,
    /// True if its rows depend on the row around it.
    pub(crate) depends: bool,
}

impl Query {
    /// True if it locks rows.
    pub(super) fn locks(&self) -> bool {
        self.from.as_ref().is_some_and(|from| from.lock.is_some())
            || self.wide.as_ref().is_some_and(|wide| !wide.locks.is_empty() || wide.late.is_some())
    }

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
                wide.filter.as_ref().or(wide.late.as_ref()).is_some_and(reads)
                    || sorts(&wide.order)
                    || wide.sources.iter().filter_map(|source| source.on.as_ref()).any(reads)
                    || wide.grouping.as_ref().is_some_and(|grouping| grouping.any(&reads))
                    || wide.sets.iter().any(reads)
                    || wide.numbers.iter().any(|one| one.partition.iter().any(reads) || sorts(&one.order))
            })
    }
}

/// Rows that are all found before the first one is shown: those of several tables, of a statement of WITH, of the catalogue; and those
/// that are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(crate) sources: Vec<Source>,
    pub(crate) filter: Option<Typed>,
    /// A filter with an effect: it is asked of a row when this is the next to be shown, and of no row behind the last one.
    pub(crate) late: Option<Typed>,
    /// How rows are put together; the items and the order are about the rows that come of it then.
    pub(crate) grouping: Option<Grouping>,
    /// What the rows are numbered by; the numbers come behind its columns.
    pub(crate) numbers: Vec<Numbering>,
    /// Arrays whose elements make rows of each row; they come behind its columns.
    pub(crate) sets: Vec<Typed>,
    pub(crate) distinct: bool,
    /// Of the rows with the same values by so many of these keys the first one is shown; all without any.
    pub(crate) firsts: usize,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<Typed>,
    pub(crate) offset: Option<Typed>,
    /// The tables whose rows are locked, in this order, by their numbers; without a lock none.
    pub(crate) locks: Vec<usize>,
    pub(crate) lock: Option<RowLock>,
}

impl Wide {
    /// The rows of these tables, all of them as they are.
    pub(super) fn of(sources: Vec<Source>) -> Wide {
        Wide {
            sources,
            filter: None,
            late: None,
            grouping: None,
            numbers: Vec::new(),
            sets: Vec::new(),
            distinct: false,
            firsts: 0,
            order: Vec::new(),
            limit: None,
            offset: None,
            locks: Vec::new(),
            lock: None,
        }
    }
}

/// How rows are put together: those with the same keys are one row, of the keys and then the aggregates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    pub(crate) keys: Vec<Typed>,
    pub(crate) aggregates: Vec<Aggregated>,
    /// HAVING: it is about such a row.
    pub(crate) having: Option<Typed>,
    /// True if there is one row of all, even of none: without GROUP BY.
    pub(crate) whole: bool,
}

/// An aggregate of these values; of the rows themselves without any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aggregated {
    pub(crate) aggregate: Aggregate,
    pub(crate) value: Option<Typed>,
    /// True if a value counts once.
    pub(crate) distinct: bool,
}

/// A value of several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Count,
    Max,
    Min,
    Sum,
    /// All values, nulls among them, as an array.
    Array,
}

impl Aggregate {
    pub(super) fn named(name: &str) -> Option<Aggregate> {
        match name {
            "count" => Some(Aggregate::Count),
            "max" => Some(Aggregate::Max),
            "min" => Some(Aggregate::Min),
            "sum" => Some(Aggregate::Sum),
            "array_agg" => Some(Aggregate::Array),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "count",
            Aggregate::Max => "max",
            Aggregate::Min => "min",
            Aggregate::Sum => "sum",
            Aggregate::Array => "array_agg",
        }
    }
}

impl Grouping {
    /// True if an expression about single rows is so.
    pub(super) fn any(&self, is: &dyn Fn(&Typed) -> bool) -> bool {
        let values = self.aggregates.iter().filter_map(|one| one.value.as_ref());
        self.keys.iter().chain(values).chain(&self.having).any(is)
    }
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
    /// The rows of these subqueries one after another; where not true, each row once.
    Queries(Vec<(bool, usize)>),
}

/// Where the rows of a SELECT come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct From {
    pub(crate) schema: Arc<Schema>,
    pub(crate) filter: Option<Typed>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limit: Option<Typed>,
    pub(crate) offset: Option<Typed>,
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
    Call(Function, Children<Typed>),
    Binary {
        operator: Operator,
        left: Child<Typed>,
        right: Child<Typed>,
        ty: Type,
    },
    And(Child<Typed>, Child<Typed>),
    Or(Child<Typed>, Child<Typed>),
    Not(Child<Typed>),
    IsNull(Child<Typed>),
    /// IS DISTINCT FROM.
    Distinct(Child<Typed>, Child<Typed>),
    In(Child<Typed>, Children<Typed>),
    Case(Children<(Typed, Typed)>, Option<Child<Typed>>),
    Convert(Child<Typed>, Type),
    /// The subquery of this number.
    Subquery(usize),
    /// The values of the subquery of this number as an array.
    ArrayQuery(usize),
    /// True if a value is among those of the subquery of this number.
    InQuery(Child<Typed>, usize),
    /// True if the subquery of this number has a row.
    Exists(usize),
    /// True if the comparison holds for an element of the array.
    AnyOf {
        operator: Operator,
        value: Child<Typed>,
        array: Child<Typed>,
    },
}

impl Tree for Typed {
    fn below(&self) -> Extent {
        match self {
            Typed::Const(_)
            | Typed::Param(_)
            | Typed::Column(_)
            | Typed::Excluded(_)
            | Typed::Outer(_)
            | Typed::Updated
            | Typed::Exists(_)
            | Typed::ArrayQuery(_)
            | Typed::Subquery(_) => Extent::default(),
            Typed::Call(_, args) => args.extent(),
            Typed::Binary { operator: _, left, right, ty: _ }
            | Typed::And(left, right)
            | Typed::Or(left, right)
            | Typed::Distinct(left, right)
            | Typed::AnyOf { operator: _, value: left, array: right } => left.extent().and(right.extent()),
            Typed::Not(inner)
            | Typed::IsNull(inner)
            | Typed::Convert(inner, _)
            | Typed::InQuery(inner, _) => inner.extent(),
            Typed::In(value, list) => value.extent().and(list.extent()),
            Typed::Case(arms, otherwise) => {
                arms.extent().and(otherwise.as_ref().map_or(Extent::default(), Child::extent))
            }
        }
    }
}

impl Typed {
    /// The expression with some of its parts replaced: a part for which there is another one is not looked into.
    pub(super) fn replaced(
        self,
        by: &mut dyn FnMut(&Typed) -> Result<Option<Typed>, SqlError>,
    ) -> Result<Typed, SqlError> {
        if let Some(other) = by(&self)? {
            return Ok(other);
        }
        let mut of = |inner: Child<Typed>| Child::of(inner.into_node().replaced(by)?);
        Ok(match self {
            Typed::Call(function, args) => {
                let args = args.into_nodes().into_iter().map(|arg| arg.replaced(by));
                Typed::Call(function, Children::all(args.collect::<Result<_, _>>()?)?)
            }
            Typed::Binary { operator, left, right, ty } => {
                Typed::Binary { operator, left: of(left)?, right: of(right)?, ty }
            }
            Typed::And(left, right) => Typed::And(of(left)?, of(right)?),
            Typed::Or(left, right) => Typed::Or(of(left)?, of(right)?),
            Typed::Distinct(left, right) => Typed::Distinct(of(left)?, of(right)?),
            Typed::Not(inner) => Typed::Not(of(inner)?),
            Typed::IsNull(inner) => Typed::IsNull(of(inner)?),
            Typed::Convert(inner, ty) => Typed::Convert(of(inner)?, ty),
            Typed::InQuery(inner, at) => Typed::InQuery(of(inner)?, at),
            Typed::AnyOf { operator, value, array } => {
                Typed::AnyOf { operator, value: of(value)?, array: of(array)? }
            }
            Typed::In(value, list) => {
                let value = of(value)?;
                let list = list.into_nodes().into_iter().map(|one| one.replaced(by));
                Typed::In(value, Children::all(list.collect::<Result<_, _>>()?)?)
            }
            Typed::Case(arms, otherwise) => {
                let arm =
                    |(condition, value): (Typed, Typed)| Ok((condition.replaced(by)?, value.replaced(by)?));
                let arms = arms.into_nodes().into_iter().map(arm).collect::<Result<_, SqlError>>()?;
                let otherwise =
                    otherwise.map(|value| Child::of(value.into_node().replaced(by)?)).transpose()?;
                Typed::Case(Children::all(arms)?, otherwise)
            }
            leaf @ (Typed::Const(_)
            | Typed::Param(_)
            | Typed::Column(_)
            | Typed::Excluded(_)
            | Typed::Outer(_)
            | Typed::Updated
            | Typed::Exists(_)
            | Typed::ArrayQuery(_)
            | Typed::Subquery(_)) => leaf,
        })
    }

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
    pub(super) fn reads_labels(&self) -> bool {
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
