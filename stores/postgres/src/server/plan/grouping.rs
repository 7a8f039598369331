//! GROUP BY, HAVING and aggregates: the rows that are put together, and what a SELECT may say of them.
//!
//! A SELECT with one of these is planned as if it were about single rows, with an aggregate as a column behind those of a row. Then each of
//! its expressions is brought to the rows that come of it: first the keys, then the aggregates.
//!
//! Source: PostgreSQL 15, `parse_agg.c` (`parseCheckAggregates`, `check_ungrouped_columns`).

use super::columns::Scope;
use super::items::still;
use super::planner::Planner;
use super::typed::{Columns, Query, Source, Typed};
use crate::protocol::SqlError;
use crate::server::sql::Expr;

/// The keys of GROUP BY: columns of the tables, else columns of the result by their names or numbers, or expressions. `values` are those
/// of the result, where aggregates are columns behind those of a row.
pub(super) fn keys(
    planner: &mut Planner<'_>,
    scope: &Scope,
    group: &[Expr],
    (values, columns): (&[Typed], &Columns),
) -> Result<Vec<Typed>, SqlError> {
    let width = scope.width();
    let mut keys = Vec::new();
    for expr in group {
        let shown = match expr {
            Expr::Int(nth) => {
                let missing =
                    || SqlError::new("42P10", format!("GROUP BY position {nth} is not in select list"));
                let at = usize::try_from(*nth).ok().and_then(|nth| nth.checked_sub(1));
                Some(at.filter(|at| *at < values.len()).ok_or_else(missing)?)
            }
            Expr::Column { table: None, name } if scope.find(None, name).is_err() => {
                columns.iter().position(|(column, _)| column == name)
            }
            _ => None,
        };
        let key = match shown {
            Some(at) => values[at].clone(),
            None => planner.expr(scope, expr, None)?.0,
        };
        if key.any(&|part| matches!(part, Typed::Column(at) if *at >= width)) {
            return Err(SqlError::new("42803", "aggregate functions are not allowed in GROUP BY"));
        }
        still(Some(&key))?;
        keys.push(key);
    }
    Ok(keys)
}

/// The other columns of tables whose primary key is among the keys: they have one value for each of them.
pub(super) fn dependent(sources: &[Source], keys: &[Typed]) -> Vec<Typed> {
    let (mut found, mut from) = (Vec::new(), 0);
    for source in sources {
        let has = |column: &usize| keys.contains(&Typed::Column(from + column));
        let mut primary = source.schema.keys.iter().filter(|key| key.primary);
        if primary.any(|key| key.columns.iter().all(has)) {
            let others = (0..source.schema.columns.len()).filter(|column| !has(column));
            found.extend(others.map(|column| Typed::Column(from + column)));
        }
        from += source.schema.columns.len();
    }
    found
}

/// An expression about single rows and aggregates as one about the rows that come of them.
pub(super) fn grouped(
    expr: Typed,
    scope: &Scope,
    keys: &[Typed],
    subqueries: &[Query],
) -> Result<Typed, SqlError> {
    let width = scope.width();
    expr.replaced(&mut |part| {
        if let Some(at) = keys.iter().position(|key| key == part) {
            return Ok(Some(Typed::Column(at)));
        }
        match part {
            Typed::Column(at) if *at >= width => Ok(Some(Typed::Column(keys.len() + at - width))),
            Typed::Column(at) => {
                let text = format!(
                    "column \"{}\" must appear in the GROUP BY clause or be used in an aggregate function",
                    scope.qualified(*at)
                );
                Err(SqlError::new("42803", text))
            }
            Typed::Subquery(at) | Typed::ArrayQuery(at) | Typed::InQuery(_, at) | Typed::Exists(at)
                if subqueries[*at].depends =>
            {
                Err(SqlError::unsupported("a subquery beside an aggregate that depends on the row around it"))
            }
            _ => Ok(None),
        }
    })
}
