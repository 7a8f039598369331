//! Rows that are put together: GROUP BY, HAVING and the aggregates.
//!
//! They come in the order of their first rows. PostgreSQL sorts them or hashes them, as its statistics have it; without ORDER BY the order is not
//! defined.

use std::collections::BTreeMap;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::operators::binary;
use super::run::Met;
use super::scene::Stop;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::order;
use crate::server::plan::{Aggregate, Aggregated, Grouping};
use crate::server::sql::Operator;

impl Context<'_, '_> {
    /// A row for each set of rows with the same keys: the keys, then the aggregates.
    pub(super) fn grouped(
        &mut self,
        grouping: &Grouping,
        all: &[Met],
        outer: &[Value],
    ) -> Result<Vec<Met>, Stop> {
        let mut groups: Vec<(Vec<Value>, Vec<&[Value]>)> = Vec::new();
        let mut numbers: BTreeMap<Vec<Value>, usize> = BTreeMap::new();
        if grouping.whole {
            groups.push((Vec::new(), Vec::new()));
            numbers.insert(Vec::new(), 0);
        }
        for met in all {
            let rows = Rows { outer, ..Rows::of(&met.row) };
            let keys = grouping.keys.iter().map(|key| self.eval(&mut Calls::default(), key, rows));
            let keys = keys.collect::<Result<Vec<_>, _>>()?;
            let number = *numbers.entry(keys).or_insert_with_key(|keys| {
                groups.push((keys.clone(), Vec::new()));
                groups.len() - 1
            });
            groups[number].1.push(&met.row);
        }
        let mut found = Vec::new();
        for (mut row, rows) in groups {
            for aggregate in &grouping.aggregates {
                row.push(self.aggregated(aggregate, &rows, outer)?);
            }
            let fits = Rows { outer, ..Rows::of(&row) };
            if self.fits(&mut Calls::default(), grouping.having.as_ref(), fits)? {
                found.push(Met { row, parts: Vec::new() });
            }
        }
        Ok(found)
    }

    /// The value of an aggregate of these rows.
    fn aggregated(&mut self, one: &Aggregated, rows: &[&[Value]], outer: &[Value]) -> Result<Value, Stop> {
        let mut values = Vec::new();
        for row in rows {
            let rows = Rows { outer, ..Rows::of(row) };
            let value = match &one.value {
                Some(value) => self.eval(&mut Calls::default(), value, rows)?,
                None => Value::Bool(true),
            };
            if value != Value::Null || one.aggregate == Aggregate::Array {
                values.push(value);
            }
        }
        if one.distinct {
            // Nulls come last.
            values.sort_by(|a, b| (*a == Value::Null).cmp(&(*b == Value::Null)).then_with(|| order(a, b)));
            values.dedup();
        }
        Ok(match one.aggregate {
            Aggregate::Count => Value::Int(i64::try_from(values.len()).unwrap_or(i64::MAX)),
            Aggregate::Max => values.into_iter().max_by(order).unwrap_or(Value::Null),
            Aggregate::Min => values.into_iter().min_by(order).unwrap_or(Value::Null),
            Aggregate::Sum => sum(values)?,
            Aggregate::Array if values.is_empty() => Value::Null,
            Aggregate::Array => Value::Array(values),
        })
    }
}

/// The sum of values that are not null; null of none.
fn sum(values: Vec<Value>) -> Result<Value, SqlError> {
    let mut values = values.into_iter();
    let Some(first) = values.next() else { return Ok(Value::Null) };
    let ty = match first {
        Value::Int(_) => Type::Int8,
        Value::Span(_) => Type::Interval,
        _ => Type::Float8,
    };
    values.try_fold(first, |sum, value| binary(Operator::Plus, sum, value, ty)).map_err(|error| {
        match error.code {
            // A `numeric` would hold it.
            "22003" if ty == Type::Int8 => SqlError::unsupported("a sum that is no bigint"),
            _ => error,
        }
    })
}
