//! The plans of the statements about rows.

use std::sync::Arc;

use super::columns::{Scope, column_index, name_of, target_index};
use super::function::Function;
use super::planner::Planner;
use super::typed::{
    Aggregate, Arbiter, Columns, From, Insert, Origin, Query, SortKey, Source, Typed, Wide, Write,
};
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{Column, ColumnDefault, Schema};
use crate::server::sql::{self, Conflict, Expr, Item, Strength, TableRef};

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
            let name = Value::Text(format!("\"{sequence}\""));
            let next = Typed::Call(Function::NextVal, vec![Typed::Const(name)]);
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
    let around = planner.aggregates.take();
    let mut scope = outer.map_or_else(Scope::default, |outer| Scope::default().within(outer));
    let mut sources = Vec::new();
    if let Some(table) = &select.table {
        sources.push(source(planner, &mut scope, table)?);
    }
    for join in &select.joins {
        let mut source = source(planner, &mut scope, &join.table)?;
        source.left = join.left;
        source.on = join.on.as_ref().map(|on| planner.truth(&scope, on, "JOIN/ON")).transpose()?;
        still(source.on.as_ref())?;
        sources.push(source);
    }
    let counts = select.items.iter().any(|item| matches!(item, Item::One { value, .. } if aggregates(value)));
    planner.aggregates = counts.then(Vec::new);
    let (values, columns) = items(planner, &scope, &select.items)?;
    let aggregates = planner.aggregates.take().unwrap_or_default();
    let filter = filter(planner, &scope, select.filter.as_ref())?;
    if !select.order.is_empty() && still(filter.as_ref()).is_err() {
        // PostgreSQL sorts before or after it calls the function, as its statistics have it.
        return Err(SqlError::unsupported("a function with an effect in the WHERE of a sorted SELECT"));
    }
    if counts && !select.order.is_empty() {
        return Err(SqlError::unsupported("ORDER BY beside an aggregate"));
    }
    let mut order = Vec::new();
    for key in &select.order {
        let value = sort_value(planner, &scope, &key.value, &values, &columns)?;
        if select.distinct && !values.contains(&value) {
            let text = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            return Err(SqlError::new("42P10", text));
        }
        order.push(SortKey { value, descends: key.descends, nulls_first: key.nulls_first });
    }
    let limit = limit(planner, select.limit.as_ref())?;
    planner.aggregates = around;
    let refused = match select.lock {
        Some(_) if counts => Some("with aggregate functions"),
        Some(_) if select.distinct => Some("with DISTINCT clause"),
        _ => None,
    };
    if let (Some(why), Some(lock)) = (refused, select.lock) {
        let clause = lock.strength.clause().trim_start_matches("SELECT ");
        return Err(SqlError::new("0A000", format!("{clause} is not allowed {why}")));
    }
    let is_plain = matches!(&sources[..], [Source { origin: Origin::Table, .. }]);
    let mut query = Query { items: values, from: None, wide: None, depends: false };
    if is_plain && !counts && !select.distinct {
        let schema = Arc::clone(&sources[0].schema);
        query.from = Some(From { schema, filter, order, limit, lock: select.lock });
        if query.reads_around() {
            query.widen(sources)?;
        }
    } else if !sources.is_empty() || counts || select.distinct {
        let wide = Wide { sources, filter, aggregates, distinct: select.distinct, order, limit };
        check(planner, &wide, select.lock.is_some())?;
        query.wide = Some(wide);
    }
    query.depends = query.reads_around();
    Ok((query, columns))
}

impl Query {
    /// Finds its rows before the first is shown, as a SELECT does that depends on the row around it.
    fn widen(&mut self, sources: Vec<Source>) -> Result<(), SqlError> {
        let Some(From { filter, order, limit, lock, .. }) = self.from.take() else { return Ok(()) };
        still(filter.as_ref())?;
        if lock.is_some() || self.items.iter().any(|item| still(Some(item)).is_err()) {
            return Err(SqlError::unsupported("a subquery with an effect that depends on the row around it"));
        }
        let aggregates = Vec::new();
        self.wide = Some(Wide { sources, filter, aggregates, distinct: false, order, limit });
        Ok(())
    }
}

/// Refuses what a SELECT of rows that are all found first does not do.
fn check(planner: &Planner<'_>, wide: &Wide, locks: bool) -> Result<(), SqlError> {
    if locks {
        return Err(SqlError::unsupported("a row lock in a SELECT of anything but one table"));
    }
    still(wide.filter.as_ref())?;
    let lazy = |source: &Source| matches!(source.origin, Origin::Part(at) if planner.parts[at].2);
    if wide.limit.is_some() && wide.sources.iter().any(lazy) {
        // PostgreSQL would lock no more rows than it shows.
        return Err(SqlError::unsupported("LIMIT of a statement of WITH that locks rows"));
    }
    Ok(())
}

/// Refuses an expression with an effect, or whose value varies.
pub(super) fn still(expr: Option<&Typed>) -> Result<(), SqlError> {
    let acts = |part: &Typed| match part {
        Typed::Call(function, _) => function.is_volatile() && *function != Function::ClockTimestamp,
        _ => false,
    };
    match expr.is_some_and(|expr| expr.any(&acts)) {
        true => Err(SqlError::unsupported("a function with an effect in a condition of several tables")),
        false => Ok(()),
    }
}

/// The tables of FROM or USING.
pub(super) fn sources(
    planner: &mut Planner<'_>,
    scope: &mut Scope,
    tables: &[TableRef],
) -> Result<Vec<Source>, SqlError> {
    tables.iter().map(|table| source(planner, scope, table)).collect()
}

/// A table whose columns are in sight from now on.
fn source(planner: &mut Planner<'_>, scope: &mut Scope, table: &TableRef) -> Result<Source, SqlError> {
    // A table of the information schema is called by its last name.
    let name = table.name.rsplit('.').next().unwrap_or(&table.name).to_owned();
    let called = TableRef { name, alias: table.alias.clone(), unnests: None };
    let (origin, schema) = match &table.unnests {
        None => planner.source(&table.name)?,
        Some((array, column)) => {
            let (array, ty) = planner.expr(&Scope::default(), array, None)?;
            let Type::Array(element) = ty else {
                return Err(SqlError::unsupported("unnest of anything but an array of a known type"));
            };
            still(Some(&array))?;
            let name = called.alias.as_ref().unwrap_or(&called.name);
            let columns = vec![(column.as_ref().unwrap_or(name).clone(), element.ty())];
            (Origin::Unnest(array), result(name, columns))
        }
    };
    scope.add(&called, &schema)?;
    Ok(Source { origin, schema, on: None, left: false })
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
    Arc::new(Schema { name: name.into(), columns, keys: Vec::new() })
}

/// True if an expression has an aggregate of its own SELECT.
fn aggregates(expr: &Expr) -> bool {
    match expr {
        Expr::CountRows => true,
        Expr::Call { name, args } => Aggregate::named(name).is_some() || args.iter().any(aggregates),
        Expr::Binary { left, right, .. } | Expr::And(left, right) | Expr::Or(left, right) => {
            aggregates(left) || aggregates(right)
        }
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

fn limit(planner: &mut Planner<'_>, limit: Option<&Expr>) -> Result<Option<Typed>, SqlError> {
    let Some(limit) = limit else { return Ok(None) };
    let (value, ty) = planner.expr(&Scope::default(), limit, Some(Type::Int8))?;
    if !ty.is_integer() {
        let text = format!("argument of LIMIT must be type bigint, not type {}", ty.name());
        return Err(SqlError::new("42804", text));
    }
    Ok(Some(value))
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
        let table = match item {
            Item::All => None,
            Item::AllOf(table) => Some(table.as_str()),
            Item::One { value, name } => {
                let (typed, ty) = planner.expr(scope, value, None)?;
                values.push(typed);
                columns.push((name.clone().unwrap_or_else(|| name_of(value)), ty));
                continue;
            }
        };
        if planner.aggregates.is_some() {
            return Err(SqlError::unsupported("all columns beside an aggregate"));
        }
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
