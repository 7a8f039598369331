//! The tables, indexes and functions that CREATE makes.

use std::sync::Arc;

use super::columns::{Scope, name_of};
use super::convert::convert;
use super::function::Function;
use super::planner::{Known, Planner, folded_name};
use super::rules::{self, Ruled};
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{self, ColumnDefault, KeyRules, Routine, Schema};
use crate::server::sql::{Check, Column, Expr, Generated, Key, Operator, TypeName};

/// A new table, and the sequences of its columns.
pub(super) fn new_schema(
    known: Known<'_>,
    table: &str,
    columns: &[Column],
    keys: &[Key],
    checks: &[Check],
) -> Result<(Schema, Vec<String>), SqlError> {
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|earlier| earlier.name == column.name) {
            let text = format!("column \"{}\" specified more than once", column.name);
            return Err(SqlError::new("42701", text));
        }
    }
    if keys.iter().filter(|key| key.primary).count() > 1 {
        let text = format!("multiple primary keys for table \"{table}\" are not allowed");
        return Err(SqlError::new("42P16", text));
    }
    let (mut planned, mut sequences) = (Vec::new(), Vec::new());
    for column in columns {
        planned.push(new_column(known, table, column)?);
        if column.generated.is_some() {
            sequences.push(sequence_name(table, &column.name));
        }
    }
    let mut schema = Schema { name: table.into(), columns: planned, ..Schema::default() };
    // PostgreSQL makes the index of the primary key first.
    let (primary, others): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| key.primary);
    for key in primary.into_iter().chain(others) {
        let key = new_key(&mut Planner::new(known, &[]), &schema, key)?;
        if key.primary {
            for at in &key.columns {
                schema.columns[*at].not_null = true;
            }
        }
        if schema.keys.iter().any(|other| other.name == key.name) {
            return Err(SqlError::unsupported("two keys of the same columns"));
        }
        schema.keys.push(key);
    }
    if !checks.is_empty() {
        schema.checks = rules::checks(&mut Planner::new(known, &[]), &Arc::new(schema.clone()), checks)?;
    }
    Ok((schema, sequences))
}

fn sequence_name(table: &str, column: &str) -> String {
    format!("{table}_{column}_seq")
}

fn new_key(planner: &mut Planner<'_>, schema: &Schema, key: &Key) -> Result<data::Key, SqlError> {
    for name in key.columns.iter().filter_map(bare_name) {
        if !schema.columns.iter().any(|column| column.name == name) {
            let text = format!("column \"{name}\" named in key does not exist");
            return Err(SqlError::new("42703", text));
        }
    }
    let names: Vec<String> = key.columns.iter().map(name_of).collect();
    let name = key.name.clone().unwrap_or_else(|| match key.primary {
        true => format!("{}_pkey", schema.name),
        false => format!("{}_{}_key", schema.name, names.join("_")),
    });
    ruled(planner, schema, key, name)
}

fn bare_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column { name, .. } => Some(name),
        _ => None,
    }
}

/// A unique index with what it has beside columns.
fn ruled(planner: &mut Planner<'_>, schema: &Schema, key: &Key, name: String) -> Result<data::Key, SqlError> {
    let Ruled { columns, values, filter } =
        Ruled::of(planner, &Arc::new(schema.clone()), &key.columns, key.filter.as_ref())?;
    if let Some(at) = columns.iter().enumerate().find(|(nth, at)| columns[..*nth].contains(at)) {
        let name = &schema.columns[*at.1].name;
        let kind = if key.primary { "primary key" } else { "unique" };
        let text = format!("column \"{name}\" appears twice in {kind} constraint");
        return Err(SqlError::new("42701", text));
    }
    let rules = (!values.is_empty() || filter.is_some()).then(|| Box::new(KeyRules { values, filter }));
    Ok(data::Key { name, primary: key.primary, columns, rules })
}

/// The key of a new unique index; none for one that is not unique, whose expressions are only read.
pub(super) fn new_index(
    planner: &mut Planner<'_>,
    schema: &Arc<Schema>,
    unique: bool,
    key: &Key,
) -> Result<Option<data::Key>, SqlError> {
    let scope = Scope::of_table(schema);
    for column in &key.columns {
        planner.expr(&scope, column, None)?;
    }
    if !unique {
        if let Some(filter) = &key.filter {
            planner.truth(&scope, filter, "WHERE")?;
        }
        return Ok(None);
    }
    let names: Vec<String> = key.columns.iter().map(name_of).collect();
    let name = key.name.clone().unwrap_or_else(|| format!("{}_{}_idx", schema.name, names.join("_")));
    ruled(planner, schema, key, name).map(Some)
}

/// A new function in SQL, whose expression is read once.
pub(super) fn new_routine(
    planner: &mut Planner<'_>,
    name: &str,
    params: &[(String, TypeName)],
    returns: &TypeName,
    body: &str,
) -> Result<Routine, SqlError> {
    let named = |(name, ty): &(String, TypeName)| Ok((name.clone(), planner.known.ty(ty)?));
    let params: Vec<(String, Type)> = params.iter().map(named).collect::<Result<_, SqlError>>()?;
    let returns = planner.known.ty(returns)?;
    let routine = Routine { name: name.to_owned(), params, returns, body: body.to_owned() };
    let nulls = vec![Expr::Null; routine.params.len()];
    planner.routine(&Scope::default(), &routine, &nulls)?;
    Ok(routine)
}

fn new_column(known: Known<'_>, table: &str, column: &Column) -> Result<data::Column, SqlError> {
    let ty = known.ty(&column.ty)?;
    let default = match (&column.default, column.generated) {
        (Some(_), Some(_)) => {
            let text = format!(
                "multiple default values specified for column \"{}\" of table \"{table}\"",
                column.name
            );
            return Err(SqlError::new("42601", text));
        }
        (None, Some(_)) => ColumnDefault::Next(sequence_name(table, &column.name)),
        (None, None) => ColumnDefault::Value(Value::Null),
        (Some(expr), None) => default(known, &column.name, ty, expr)?,
    };
    let always = column.generated == Some(Generated::Always);
    Ok(data::Column { name: column.name.clone(), ty, not_null: column.not_null, default, always })
}

fn default(known: Known<'_>, name: &str, ty: Type, expr: &Expr) -> Result<ColumnDefault, SqlError> {
    let mut planner = Planner::new(known, &[]);
    let planned = planner.assigned(&Scope::default(), expr, name, ty)?;
    let is_point = matches!(ty, Type::Timestamp | Type::Timestamptz);
    let refused = || SqlError::unsupported("this default");
    let inner = match planned {
        Typed::Const(value) => return Ok(ColumnDefault::Value(convert(value, ty)?)),
        Typed::Convert(inner, found) if is_point || found.is_integer() => inner.into_node(),
        other => other,
    };
    match inner {
        Typed::Call(Function::RandomUuid, _) if ty == Type::Uuid => Ok(ColumnDefault::Uuid),
        Typed::Binary { operator: Operator::Plus, left, right, .. } if is_point => {
            match (left.into_node(), right.into_node()) {
                (Typed::Call(Function::Now, _), Typed::Const(Value::Span(span))) => {
                    Ok(ColumnDefault::After(span))
                }
                _ => Err(refused()),
            }
        }
        Typed::Call(Function::Now, _) if is_point => Ok(ColumnDefault::Now),
        Typed::Call(Function::ClockTimestamp, _) if is_point => Ok(ColumnDefault::Clock),
        // The only time zone is UTC.
        Typed::Call(Function::TimeZone, args) if is_point => match args.last() {
            Some(Typed::Call(Function::Now, _)) => Ok(ColumnDefault::Now),
            _ => Err(refused()),
        },
        Typed::Call(Function::NextVal, args) => match args.first() {
            Some(Typed::Const(Value::Text(name))) => Ok(ColumnDefault::Next(folded_name(name))),
            _ => Err(refused()),
        },
        _ => Err(refused()),
    }
}
