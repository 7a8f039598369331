//! The tables that CREATE makes.

use super::columns::Scope;
use super::convert::convert;
use super::function::Function;
use super::planner::{Known, Planner, folded_name};
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{self, ColumnDefault, Schema};
use crate::server::sql::{Column, Expr, Generated, Key};

/// A new table, and the sequences of its columns.
pub(super) fn new_schema(
    known: Known<'_>,
    table: &str,
    columns: &[Column],
    keys: &[Key],
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
    let mut schema = Schema { name: table.into(), columns: planned, keys: Vec::new() };
    // PostgreSQL makes the index of the primary key first.
    let (primary, others): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| key.primary);
    for key in primary.into_iter().chain(others) {
        let key = new_key(&schema, key)?;
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
    Ok((schema, sequences))
}

fn sequence_name(table: &str, column: &str) -> String {
    format!("{table}_{column}_seq")
}

fn new_key(schema: &Schema, key: &Key) -> Result<data::Key, SqlError> {
    let mut columns = Vec::new();
    for name in &key.columns {
        let missing = || SqlError::new("42703", format!("column \"{name}\" named in key does not exist"));
        let at = schema.columns.iter().position(|column| column.name == *name).ok_or_else(missing)?;
        if columns.contains(&at) {
            let kind = if key.primary { "primary key" } else { "unique" };
            let text = format!("column \"{name}\" appears twice in {kind} constraint");
            return Err(SqlError::new("42701", text));
        }
        columns.push(at);
    }
    let name = key.name.clone().unwrap_or_else(|| match key.primary {
        true => format!("{}_pkey", schema.name),
        false => format!("{}_{}_key", schema.name, key.columns.join("_")),
    });
    Ok(data::Key { name, primary: key.primary, columns })
}

/// The key of a new unique index.
pub(super) fn new_index(schema: &Schema, key: &Key) -> Result<data::Key, SqlError> {
    for name in &key.columns {
        if !schema.columns.iter().any(|column| column.name == *name) {
            return Err(SqlError::new("42703", format!("column \"{name}\" does not exist")));
        }
    }
    let name = key.name.clone().unwrap_or_else(|| format!("{}_{}_idx", schema.name, key.columns.join("_")));
    let key = Key { name: Some(name), primary: false, columns: key.columns.clone() };
    new_key(schema, &key)
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
        Typed::Convert(inner, found) if is_point || found.is_integer() => *inner,
        other => other,
    };
    match inner {
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
