//! The rows that a statement may be about: all that its snapshot sees, or the one that its filter names by a key.

use std::collections::VecDeque;
use std::sync::Arc;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::scene::{Scene, Stop};
use crate::protocol::{SqlError, Value};
use crate::server::data::{Place, Schema, Tid};
use crate::server::plan::Typed;
use crate::server::sql::Operator;

/// The versions that may fit, in the order in which they were made.
pub(super) fn scan(
    at: &mut Context<'_, '_>,
    schema: &Schema,
    filter: Option<&Typed>,
) -> Result<VecDeque<Tid>, Stop> {
    present(at.scene, schema)?;
    for (nth, named) in named(schema, filter) {
        let mut values = Vec::new();
        for value in named {
            values.push(at.eval(&mut Calls::default(), value, Rows::default())?);
        }
        // A point of time may be written with a zone and compared with one without.
        if values.iter().any(|value| matches!(value, Value::Time(_) | Value::Stamp(_))) {
            continue;
        }
        return Ok(at.scene.heap.scan(&schema.name, &at.scene.snapshot, Some((nth, &values))).into());
    }
    Ok(at.scene.heap.scan(&schema.name, &at.scene.snapshot, None).into())
}

/// The keys of which a filter wants one row, each with the values that it wants.
fn named<'a>(schema: &'a Schema, filter: Option<&'a Typed>) -> impl Iterator<Item = (usize, Vec<&'a Typed>)> {
    let plain = schema.keys.iter().enumerate().filter(|(_, key)| key.is_plain());
    plain.filter_map(move |(nth, key)| {
        let named: Option<Vec<&Typed>> =
            key.columns.iter().map(|column| equal_to(filter?, *column)).collect();
        named.map(|named| (nth, named))
    })
}

/// True if a filter wants one row by a key, whatever other tables have.
pub(super) fn names_one(schema: &Schema, filter: Option<&Typed>) -> bool {
    named(schema, filter).next().is_some()
}

/// The value that a filter wants of a column, if it is the same for all rows.
fn equal_to(filter: &Typed, column: usize) -> Option<&Typed> {
    match filter {
        Typed::And(left, right) => equal_to(left, column).or_else(|| equal_to(right, column)),
        Typed::Binary { operator: Operator::Equal, left, right, .. } => {
            let (left, right) = (&**left, &**right);
            match (*left == Typed::Column(column), *right == Typed::Column(column)) {
                (true, _) => Some(right).filter(|value| value.is_fixed()),
                (_, true) => Some(left).filter(|value| value.is_fixed()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Refuses a table that is gone: a statement may have been planned before the creation of its table was rolled back.
pub(super) fn present(scene: &Scene<'_>, schema: &Schema) -> Result<(), SqlError> {
    let missing = || SqlError::new("42P01", format!("relation \"{}\" does not exist", schema.name));
    if schema.unlogged && scene.in_recovery {
        let text = "cannot access temporary or unlogged relations during recovery";
        return Err(SqlError::new("0A000", text));
    }
    scene.heap.catalogue.schema(scene.actor.top, &schema.name).map(drop).ok_or_else(missing)
}

pub(super) fn place(schema: &Schema, tid: Tid) -> Place {
    Place { table: Arc::clone(&schema.name), tid }
}
