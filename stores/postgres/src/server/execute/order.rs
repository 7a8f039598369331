//! The order of the rows of a SELECT, and how many there may be.

use std::cmp::Ordering;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::scene::Stop;
use crate::protocol::{SqlError, Value};
use crate::server::plan::{SortKey, Typed};

/// The most rows of a result.
pub(super) fn limit(at: &mut Context<'_, '_>, limit: Option<&Typed>) -> Result<Option<u64>, Stop> {
    let Some(limit) = limit else { return Ok(None) };
    match at.eval(&mut Calls::default(), limit, Rows::default())? {
        Value::Int(limit) => {
            let negative = |_| SqlError::new("2201W", "LIMIT must not be negative");
            Ok(Some(u64::try_from(limit).map_err(negative)?))
        }
        _ => Ok(None),
    }
}

pub(super) fn by_keys(order: &[SortKey], a: &[Value], b: &[Value]) -> Ordering {
    let pairs = order.iter().zip(a.iter().zip(b));
    pairs.fold(Ordering::Equal, |so_far, (key, (a, b))| {
        so_far.then_with(|| match (a, b) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) if key.nulls_first => Ordering::Less,
            (Value::Null, _) => Ordering::Greater,
            (_, Value::Null) if key.nulls_first => Ordering::Greater,
            (_, Value::Null) => Ordering::Less,
            (a, b) if key.descends => b.cmp(a),
            (a, b) => a.cmp(b),
        })
    })
}
