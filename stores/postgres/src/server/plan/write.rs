//! The plans of changes: new values, defaults, and the rows that are changed.

use std::sync::Arc;

use super::cast::called;
use super::columns::{Scope, target_index};
use super::function::Function;
use super::planned::Write;
use super::planner::Planner;
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{ColumnDefault, Schema};
use crate::server::deep::Child;
use crate::server::sql::{Expr, Operator, Strength};

pub(super) fn write(
    planner: &mut Planner<'_>,
    scope: &Scope,
    schema: &Arc<Schema>,
    sets: &[(String, Option<Expr>)],
    filter: Option<&Expr>,
) -> Result<Write, SqlError> {
    let mut planned: Vec<(usize, Typed)> = Vec::new();
    for (name, expr) in sets {
        let at = target_index(schema, name)?;
        if planned.iter().any(|(earlier, _)| *earlier == at) {
            return Err(SqlError::new("42601", format!("multiple assignments to same column \"{name}\"")));
        }
        let column = &schema.columns[at];
        let value = match expr {
            None => default_of(column)?,
            Some(_) if column.always => {
                let text = format!("column \"{name}\" can only be updated to DEFAULT");
                return Err(SqlError::new("428C9", text));
            }
            Some(expr) => planner.assigned(scope, expr, name, column.ty)?,
        };
        planned.push((at, value));
    }
    let changes_key = planned.iter().any(|(at, _)| schema.is_key_column(*at));
    let strength = if changes_key { Strength::Update } else { Strength::NoKeyUpdate };
    let filter = self::filter(planner, scope, filter)?;
    Ok(Write { schema: Arc::clone(schema), sets: planned, filter, strength })
}

pub(super) fn filter(
    planner: &mut Planner<'_>,
    scope: &Scope,
    filter: Option<&Expr>,
) -> Result<Option<Typed>, SqlError> {
    filter.map(|filter| planner.truth(scope, filter, "WHERE")).transpose()
}

/// The value of a column that is not given one.
pub(super) fn default_of(column: &crate::server::data::Column) -> Result<Typed, SqlError> {
    let call = |function, ty| match column.ty {
        wanted if wanted == ty => called(function, Vec::new()),
        wanted => Ok(Typed::Convert(Child::of(called(function, Vec::new())?)?, wanted)),
    };
    Ok(match &column.default {
        ColumnDefault::Value(value) => Typed::Const(value.clone()),
        ColumnDefault::Now => call(Function::Now, Type::Timestamptz)?,
        ColumnDefault::Clock => call(Function::ClockTimestamp, Type::Timestamptz)?,
        ColumnDefault::After(span) => {
            let (left, right) = (called(Function::Now, Vec::new())?, Typed::Const(Value::Span(*span)));
            let (operator, ty) = (Operator::Plus, Type::Timestamptz);
            let sum = Typed::Binary { operator, left: Child::of(left)?, right: Child::of(right)?, ty };
            match column.ty {
                Type::Timestamptz => sum,
                wanted => Typed::Convert(Child::of(sum)?, wanted),
            }
        }
        ColumnDefault::Uuid => called(Function::RandomUuid, Vec::new())?,
        ColumnDefault::Next(sequence) => {
            let name = Value::Text(format!("\"{sequence}\""));
            let next = called(Function::NextVal, vec![Typed::Const(name)])?;
            match column.ty {
                Type::Int8 => next,
                ty => Typed::Convert(Child::of(next)?, ty),
            }
        }
    })
}
