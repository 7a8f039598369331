//! How two values compare.

use crate::protocol::Value;
use crate::server::sql::Operator;

/// The outcome of a comparison; null if one side is null.
pub(crate) fn compared(operator: Operator, left: &Value, right: &Value) -> Value {
    let order = match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return Value::Null,
        // The only time zone is UTC.
        (Value::Time(left), Value::Stamp(right)) | (Value::Stamp(left), Value::Time(right)) => {
            left.cmp(right)
        }
        (left, right) => left.cmp(right),
    };
    Value::Bool(match operator {
        Operator::Equal => order.is_eq(),
        Operator::Unequal => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    })
}
