//! The plans of the statements about rows.

use std::sync::Arc;

use super::columns::{Scope, column_index, name_of, target_index};
use super::function::Function;
use super::planner::Planner;
use super::typed::{Arbiter, Columns, From, Insert, Query, SortKey, Typed, Write};
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{ColumnDefault, Schema};
use crate::server::sql::{self, Conflict, Expr, Item, Strength};

pub(super) fn insert(
    planner: &mut Planner<'_>,
    insert: &sql::Insert,
) -> Result<(Insert, Option<Columns>), SqlError> {
    let schema = planner.table(&insert.table.name)?;
    let scope = Scope::of(&insert.table, &schema);
    let rows = values(planner, &schema, &insert.columns, &insert.rows)?;
    let arbiter = match &insert.conflict {
        Conflict::Fail => Arbiter::None,
        Conflict::Nothing(None) => Arbiter::Nothing(None),
        Conflict::Nothing(Some(columns)) => Arbiter::Nothing(Some(key_of(&schema, columns)?)),
        Conflict::Update { columns, sets, filter } => {
            let key = key_of(&schema, columns)?;
            let scope = scope.clone().with_excluded();
            Arbiter::Update(key, write(planner, &scope, &schema, sets, filter.as_ref())?)
        }
    };
    let (returning, columns) = returning(planner, &scope, insert.returning.as_deref())?;
    Ok((Insert { schema, rows, arbiter, returning }, columns))
}

/// The unique index over these columns.
fn key_of(schema: &Schema, names: &[String]) -> Result<usize, SqlError> {
    let mut wanted = names.iter().map(|name| column_index(schema, name)).collect::<Result<Vec<_>, _>>()?;
    wanted.sort_unstable();
    wanted.dedup();
    let is_over = |key: &crate::server::data::Key| {
        let mut columns = key.columns.clone();
        columns.sort_unstable();
        columns == wanted
    };
    schema.keys.iter().position(is_over).ok_or_else(|| {
        let text = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        SqlError::new("42P10", text)
    })
}

fn values(
    planner: &mut Planner<'_>,
    schema: &Schema,
    names: &[String],
    rows: &[Vec<Option<Expr>>],
) -> Result<Vec<Vec<Typed>>, SqlError> {
    let mut targets = Vec::new();
    for name in names {
        let at = target_index(schema, name)?;
        if targets.contains(&at) {
            return Err(SqlError::new("42701", format!("column \"{name}\" specified more than once")));
        }
        targets.push(at);
    }
    if names.is_empty() {
        targets = (0..schema.columns.len()).collect();
    }
    if rows.iter().any(|row| row.len() != rows[0].len()) {
        return Err(SqlError::new("42601", "VALUES lists must all be the same length"));
    }
    let mut all = Vec::new();
    for row in rows {
        if row.len() > targets.len() {
            return Err(SqlError::new("42601", "INSERT has more expressions than target columns"));
        }
        if row.len() < targets.len() && !names.is_empty() {
            return Err(SqlError::new("42601", "INSERT has more target columns than expressions"));
        }
        let mut values: Vec<Typed> = schema.columns.iter().map(default_of).collect();
        for (expr, at) in row.iter().zip(&targets) {
            let column = &schema.columns[*at];
            let Some(expr) = expr else { continue };
            if column.always {
                let text = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
                return Err(SqlError::new("428C9", text));
            }
            values[*at] = planner.assigned(&Scope::default(), expr, &column.name, column.ty)?;
        }
        all.push(values);
    }
    Ok(all)
}

/// The value of a column that is not given one.
fn default_of(column: &crate::server::data::Column) -> Typed {
    let call = |function, ty| match column.ty {
        wanted if wanted == ty => Typed::Call(function, Vec::new()),
        wanted => Typed::Convert(Box::new(Typed::Call(function, Vec::new())), wanted),
    };
    match &column.default {
        ColumnDefault::Value(value) => Typed::Const(value.clone()),
        ColumnDefault::Now => call(Function::Now, Type::Timestamptz),
        ColumnDefault::Clock => call(Function::ClockTimestamp, Type::Timestamptz),
        ColumnDefault::Next(sequence) => {
            let next = Typed::Call(Function::NextVal, vec![Typed::Const(Value::Text(sequence.clone()))]);
            match column.ty {
                Type::Int8 => next,
                ty => Typed::Convert(Box::new(next), ty),
            }
        }
    }
}

/// A SELECT, perhaps within another statement.
pub(super) fn query(
    planner: &mut Planner<'_>,
    select: &sql::Select,
    outer: Option<&Scope>,
) -> Result<(Query, Columns), SqlError> {
    let mut scope = match &select.table {
        Some(table) => Scope::of(table, &planner.table(&table.name)?),
        None => Scope::default(),
    };
    if let Some(outer) = outer {
        scope = scope.within(outer);
    }
    let (values, columns) = items(planner, &scope, &select.items)?;
    let filter = filter(planner, &scope, select.filter.as_ref())?;
    let acts = |part: &Typed| match part {
        Typed::Call(function, _) => function.is_volatile() && *function != Function::ClockTimestamp,
        _ => false,
    };
    if !select.order.is_empty() && filter.as_ref().is_some_and(|filter| filter.any(&acts)) {
        // PostgreSQL sorts before or after it calls the function, as its statistics have it.
        return Err(SqlError::unsupported("a function with an effect in the WHERE of a sorted SELECT"));
    }
    let mut order = Vec::new();
    for key in &select.order {
        let value = sort_value(planner, &scope, &key.value, &values, &columns)?;
        order.push(SortKey { value, descends: key.descends, nulls_first: key.nulls_first });
    }
    let limit = match &select.limit {
        None => None,
        Some(limit) => {
            let (value, ty) = planner.expr(&Scope::default(), limit, Some(Type::Int8))?;
            if !ty.is_integer() {
                let text = format!("argument of LIMIT must be type bigint, not type {}", ty.name());
                return Err(SqlError::new("42804", text));
            }
            Some(value)
        }
    };
    let from = scope.schema().map(|schema| From {
        schema: Arc::clone(schema),
        filter,
        order,
        limit,
        lock: select.lock,
    });
    Ok((Query { items: values, from }, columns))
}

/// The value by which rows are sorted: a column of the result by its name or its number, or an expression.
fn sort_value(
    planner: &mut Planner<'_>,
    scope: &Scope,
    expr: &Expr,
    values: &[Typed],
    columns: &Columns,
) -> Result<Typed, SqlError> {
    let found = match expr {
        Expr::Int(nth) => {
            let at =
                usize::try_from(*nth).ok().and_then(|nth| nth.checked_sub(1)).filter(|at| *at < values.len());
            let missing = || SqlError::new("42P10", format!("ORDER BY position {nth} is not in select list"));
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

fn items(
    planner: &mut Planner<'_>,
    scope: &Scope,
    items: &[Item],
) -> Result<(Vec<Typed>, Columns), SqlError> {
    let (mut values, mut columns) = (Vec::new(), Vec::new());
    for item in items {
        match (item, scope.schema()) {
            (Item::All, None) => {
                return Err(SqlError::new("42601", "SELECT * with no tables specified is not valid"));
            }
            (Item::All, Some(schema)) => {
                for (at, column) in schema.columns.iter().enumerate() {
                    values.push(Typed::Column(at));
                    columns.push((column.name.clone(), column.ty));
                }
            }
            (Item::One { value, name }, _) => {
                let (typed, ty) = planner.expr(scope, value, None)?;
                values.push(typed);
                columns.push((name.clone().unwrap_or_else(|| name_of(value)), ty));
            }
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
        Some(list) => items(planner, scope, list).map(|(values, columns)| (Some(values), Some(columns))),
    }
}

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
            None => default_of(column),
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
