//! How two values compare.

use std::cmp::Ordering;

use crate::protocol::Value;
use crate::server::sql::Operator;

/// The order of two values that are not null.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    let millionths = |whole: &i64| i128::from(*whole) * 1_000_000;
    match (left, right) {
        // The only time zone is UTC.
        (Value::Time(left), Value::Stamp(right)) | (Value::Stamp(left), Value::Time(right)) => {
            left.cmp(right)
        }
        (Value::Int(left), Value::Numeric(right)) => millionths(left).cmp(&i128::from(*right)),
        (Value::Numeric(left), Value::Int(right)) => i128::from(*left).cmp(&millionths(right)),
        (left, right) => left.cmp(right),
    }
}

/// The outcome of a comparison; null if one side is null.
pub(crate) fn compared(operator: Operator, left: &Value, right: &Value) -> Value {
    if *left == Value::Null || *right == Value::Null {
        return Value::Null;
    }
    let order = order(left, right);
    Value::Bool(match operator {
        Operator::Equal => order.is_eq(),
        Operator::Unequal => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}
