//! The columns of results, and what rows are sorted by.

use std::sync::Arc;

use super::cast::is_open;
use super::columns::{Scope, name_of};
use super::function::Function;
use super::planner::Planner;
use super::typed::{Columns, Typed};
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{Column, ColumnDefault, Schema};
use crate::server::sql::{Expr, Item};

/// The values of a result, and its columns; `wanted` are the types that these are for.
pub(super) fn items(
    planner: &mut Planner<'_>,
    scope: &Scope,
    items: &[Item],
    wanted: &[Type],
) -> Result<(Vec<Typed>, Columns), SqlError> {
    let (mut values, mut columns) = (Vec::new(), Vec::new());
    for item in items {
        let table = match item {
            Item::All => None,
            Item::AllOf(table) => Some(table.as_str()),
            Item::One { value, name } => {
                // A literal takes the type of the column that it is for.
                let wanted = wanted.get(values.len()).copied().filter(|_| is_open(value));
                let (typed, ty) = planner.expr(scope, value, wanted)?;
                if ty == Type::Numeric && matches!(typed, Typed::Const(_)) {
                    // It would be shown with six digits behind its point.
                    return Err(SqlError::unsupported("a numeric in a result"));
                }
                values.push(typed);
                columns.push((name.clone().unwrap_or_else(|| name_of(value)), ty));
                continue;
            }
        };
        for (at, name, ty) in scope.all(table)? {
            values.push(Typed::Column(at));
            columns.push((name, ty));
        }
    }
    Ok((values, columns))
}

pub(super) fn returning(
    planner: &mut Planner<'_>,
    scope: &Scope,
    list: Option<&[Item]>,
) -> Result<(Option<Vec<Typed>>, Option<Columns>), SqlError> {
    match list {
        None => Ok((None, None)),
        Some(list) => items(planner, scope, list, &[]).map(|(values, columns)| (Some(values), Some(columns))),
    }
}

/// The value by which rows are sorted: a column of the result by its name or its number, or an expression.
pub(super) fn sort_value(
    planner: &mut Planner<'_>,
    scope: &Scope,
    expr: &Expr,
    (values, columns): (&[Typed], &Columns),
    clause: &str,
) -> Result<Typed, SqlError> {
    let found = match expr {
        Expr::Int(nth) => {
            let at =
                usize::try_from(*nth).ok().and_then(|nth| nth.checked_sub(1)).filter(|at| *at < values.len());
            let missing = || SqlError::new("42P10", format!("{clause} position {nth} is not in select list"));
            Some(at.ok_or_else(missing)?)
        }
        Expr::Column { table: None, name } => columns.iter().position(|(column, _)| column == name),
        _ => None,
    };
    let value = match found {
        Some(at) => values[at].clone(),
        None => planner.expr(scope, expr, None)?.0,
    };
    if value.any(&|part| matches!(part, Typed::Call(function, _) if function.is_volatile())) {
        return Err(SqlError::unsupported("sorting by a function that varies"));
    }
    Ok(value)
}

/// The columns of a result as those of a table.
pub(super) fn result(name: &str, columns: Columns) -> Arc<Schema> {
    let column = |(name, ty): (String, Type)| Column {
        name,
        ty: if ty == Type::Unknown { Type::Text } else { ty },
        not_null: false,
        default: ColumnDefault::Value(Value::Null),
        always: false,
    };
    let columns = columns.into_iter().map(column).collect();
    Arc::new(Schema { name: name.into(), columns, keys: Vec::new(), ..Schema::default() })
}

/// Refuses an expression with an effect, or whose value varies.
pub(super) fn still(expr: Option<&Typed>) -> Result<(), SqlError> {
    let acts = |part: &Typed| match part {
        Typed::Call(function, _) => function.is_volatile() && *function != Function::ClockTimestamp,
        _ => false,
    };
    match expr.is_some_and(|expr| expr.any(&acts)) {
        true => Err(SqlError::unsupported("a function with an effect in this condition")),
        false => Ok(()),
    }
}
