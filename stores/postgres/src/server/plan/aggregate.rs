//! Aggregates, and numbers of rows: which expressions have one, and their types.

use super::columns::Scope;
use super::items::still;
use super::planner::Planner;
use super::typed::{Aggregate, Numbering, SortKey, Typed};
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
        let at = match numbers.iter().position(|known| *known == one) {
            Some(at) => at,
            None => {
                numbers.push(one);
                numbers.len() - 1
            }
        };
        self.numbers = Some(numbers);
        Ok((Typed::Column(self.width + at), Type::Int8))
    }

    /// An aggregate as a column of the one row of its SELECT.
    pub(super) fn aggregate(
        &mut self,
        scope: &Scope,
        aggregate: Aggregate,
        arg: Option<&Expr>,
    ) -> Result<(Typed, Type), SqlError> {
        let refused = || SqlError::unsupported("an aggregate in this place");
        let mut all = self.aggregates.take().ok_or_else(refused)?;
        let value = arg.map(|arg| self.expr(scope, arg, None)).transpose()?;
        let ty = match (aggregate, &value) {
            (Aggregate::Array, Some((_, ty))) => {
                let refused = || SqlError::unsupported("an array of values of this type");
                Type::Array(Element::of(*ty).ok_or_else(refused)?)
            }
            (Aggregate::Count, _) | (_, None) => Type::Int8,
            (_, Some((_, Type::Varchar(_)))) => Type::Text,
            (_, Some((_, ty))) if matches!(ty, Type::Bool | Type::Uuid | Type::Jsonb | Type::Void) => {
                let name = if aggregate == Aggregate::Max { "max" } else { "min" };
                let text = format!("function {name}({}) does not exist", ty.name());
                return Err(SqlError::new("42883", text));
            }
            (_, Some((_, ty))) => *ty,
        };
        if value.as_ref().is_some_and(|(value, _)| value.calls()) {
            return Err(SqlError::unsupported("a function in an aggregate"));
        }
        all.push((aggregate, value.map(|(value, _)| value)));
        self.aggregates = Some(all);
        let at = self.aggregates.as_ref().map_or(0, |all| all.len() - 1);
        Ok((Typed::Column(at), ty))
    }
}

/// True if an expression has an aggregate of its own SELECT.
pub(super) fn aggregates(expr: &Expr) -> bool {
    match expr {
        Expr::CountRows => true,
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
