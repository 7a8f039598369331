//! Aggregates, and numbers of rows: which expressions have one, and their types.

use super::columns::Scope;
use super::items::still;
use super::planner::Planner;
use super::typed::{Aggregate, Aggregated, Numbering, SortKey, Typed};
use crate::protocol::{Element, SqlError, Type};
use crate::server::sql::{Expr, Order};

impl Planner<'_> {
    /// `row_number()`, or `count(*)` of the rows beside it, as a column behind those of the row.
    pub(super) fn row_number(
        &mut self,
        scope: &Scope,
        partition: &[Expr],
        order: &[Order],
        counts: bool,
    ) -> Result<(Typed, Type), SqlError> {
        let refused = |place: &str| match place {
            "WHERE" => SqlError::new("42P20", "window functions are not allowed in WHERE"),
            _ => SqlError::unsupported("row_number in this place"),
        };
        let mut numbers = self.numbers.take().ok_or_else(|| refused(self.place))?;
        let partition = partition.iter().map(|value| Ok(self.expr(scope, value, None)?.0));
        let partition = partition.collect::<Result<Vec<_>, SqlError>>()?;
        let mut keys = Vec::new();
        for Order { value, descends, nulls_first } in order {
            let (value, _) = self.expr(scope, value, None)?;
            keys.push(SortKey { value, descends: *descends, nulls_first: *nulls_first });
        }
        for value in partition.iter().chain(keys.iter().map(|key| &key.value)) {
            still(Some(value))?;
        }
        let one = Numbering { partition, order: keys, counts };
        let at = known_as(&mut numbers, one);
        self.numbers = Some(numbers);
        Ok((Typed::Column(self.width + at), Type::Int8))
    }

    /// An aggregate as a column behind those of the row.
    pub(super) fn aggregate(
        &mut self,
        scope: &Scope,
        aggregate: Aggregate,
        arg: Option<&Expr>,
        distinct: bool,
    ) -> Result<(Typed, Type), SqlError> {
        let place = self.place;
        let refused = || match place {
            "aggregate" => SqlError::new("42803", "aggregate function calls cannot be nested"),
            "WHERE" | "GROUP BY" | "JOIN conditions" => {
                SqlError::new("42803", format!("aggregate functions are not allowed in {place}"))
            }
            _ => SqlError::unsupported("an aggregate in this place"),
        };
        let mut all = self.aggregates.take().ok_or_else(refused)?;
        let place = std::mem::replace(&mut self.place, "aggregate");
        let value = arg.map(|arg| self.expr(scope, arg, None)).transpose()?;
        self.place = place;
        let ty = result_of(aggregate, value.as_ref().map(|(_, ty)| *ty))?;
        let value = value.map(|(value, _)| value);
        if value.as_ref().is_some_and(Typed::calls) {
            return Err(SqlError::unsupported("a function in an aggregate"));
        }
        let one = Aggregated { aggregate, value, distinct };
        let at = known_as(&mut all, one);
        self.aggregates = Some(all);
        Ok((Typed::Column(self.width + at), ty))
    }
}

/// The number of one among all, to which it is added if it is not there.
fn known_as<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|known| *known == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// The type of an aggregate of values of a type.
fn result_of(aggregate: Aggregate, of: Option<Type>) -> Result<Type, SqlError> {
    let Some(of) = of else { return Ok(Type::Int8) };
    let missing = || {
        let text = format!("function {}({}) does not exist", aggregate.name(), of.name());
        SqlError::new("42883", text)
    };
    Ok(match (aggregate, of) {
        (Aggregate::Array, of) => {
            let refused = || SqlError::unsupported("an array of values of this type");
            Type::Array(Element::of(of.bare()).ok_or_else(refused)?)
        }
        (Aggregate::Count, _) | (Aggregate::Sum, Type::Int2 | Type::Int4) => Type::Int8,
        // Such a sum has no digits behind its point.
        (Aggregate::Sum, Type::Int8) => Type::Numeric,
        (Aggregate::Sum, Type::Float8 | Type::Interval) => of,
        (Aggregate::Sum, Type::Numeric | Type::Unknown) => {
            return Err(SqlError::unsupported("a sum of values of this type"));
        }
        (Aggregate::Sum, _) => return Err(missing()),
        (_, Type::Varchar(_)) => Type::Text,
        (_, Type::Bool | Type::Uuid | Type::Void | Type::Bytea) => {
            return Err(missing());
        }
        (_, of) => of,
    })
}

/// True if an expression has an aggregate of its own SELECT.
pub(super) fn aggregates(expr: &Expr) -> bool {
    match expr {
        Expr::CountRows | Expr::OfDistinct { .. } => true,
        Expr::Call { name, args } => Aggregate::named(name).is_some() || args.iter().any(aggregates),
        Expr::Binary { left, right, .. } | Expr::And(left, right) | Expr::Or(left, right) => {
            aggregates(left) || aggregates(right)
        }
        Expr::Distinct(left, right) | Expr::Element(left, right) => aggregates(left) || aggregates(right),
        Expr::Array(list) => list.iter().any(aggregates),
        Expr::Not(inner) | Expr::IsNull(inner) | Expr::Cast(inner, _) | Expr::InQuery(inner, _) => {
            aggregates(inner)
        }
        Expr::In(value, list) => aggregates(value) || list.iter().any(aggregates),
        Expr::Any { value, array, .. } => aggregates(value) || aggregates(array),
        Expr::Case { arms, otherwise } => {
            arms.iter().any(|(condition, value)| aggregates(condition) || aggregates(value))
                || otherwise.as_deref().is_some_and(aggregates)
        }
        _ => false,
    }
}
