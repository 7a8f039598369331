//! The order of the rows of a SELECT, and how many there may be.

use std::cmp::Ordering;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::scene::Stop;
use crate::protocol::{SqlError, Value};
use crate::server::data::order;
use crate::server::plan::{SortKey, Typed};

/// The most rows of a result.
pub(super) fn limit(at: &mut Context<'_, '_>, limit: Option<&Typed>) -> Result<Option<u64>, Stop> {
    number(at, limit, "2201W", "LIMIT")
}

/// How many rows come before those of a result.
pub(super) fn offset(at: &mut Context<'_, '_>, offset: Option<&Typed>) -> Result<u64, Stop> {
    number(at, offset, "2201X", "OFFSET").map(Option::unwrap_or_default)
}

/// The number of a clause; none for null.
fn number(
    at: &mut Context<'_, '_>,
    value: Option<&Typed>,
    code: &'static str,
    clause: &str,
) -> Result<Option<u64>, Stop> {
    let Some(value) = value else { return Ok(None) };
    match at.eval(&mut Calls::default(), value, Rows::default())? {
        Value::Int(number) => {
            let negative = |_| SqlError::new(code, format!("{clause} must not be negative"));
            Ok(Some(u64::try_from(number).map_err(negative)?))
        }
        _ => Ok(None),
    }
}

pub(super) fn by_keys(keys: &[SortKey], a: &[Value], b: &[Value]) -> Ordering {
    let pairs = keys.iter().zip(a.iter().zip(b));
    pairs.fold(Ordering::Equal, |so_far, (key, (a, b))| {
        so_far.then_with(|| match (a, b) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) if key.nulls_first => Ordering::Less,
            (Value::Null, _) => Ordering::Greater,
            (_, Value::Null) if key.nulls_first => Ordering::Greater,
            (_, Value::Null) => Ordering::Less,
            (a, b) if key.descends => order(b, a),
            (a, b) => order(a, b),
        })
    })
}
