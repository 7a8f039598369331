//! The results of operators.

use crate::protocol::{Float, Interval, SqlError, Type, Value};
use crate::server::data::compared;
use crate::server::plan::in_range;
use crate::server::sql::Operator;

pub(super) fn binary(operator: Operator, left: Value, right: Value, ty: Type) -> Result<Value, SqlError> {
    if operator.compares() {
        return Ok(compared(operator, &left, &right));
    }
    let beyond = || SqlError::new("22008", format!("{} out of range", ty.name()));
    let shifted = |point: i64, span: Interval| {
        let span = if operator == Operator::Minus { span.negated() } else { Some(span) };
        span.and_then(|span| span.after(point)).ok_or_else(beyond)
    };
    Ok(match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        (Value::Int(left), Value::Int(right)) => {
            let result = match operator {
                Operator::Plus => left.checked_add(right),
                Operator::Minus => left.checked_sub(right),
                Operator::Times => left.checked_mul(right),
                _ if right == 0 => return Err(divided()),
                Operator::Divide => left.checked_div(right),
                // The remainder of the least number by -1 is none, though its quotient is too great.
                _ => Some(left.wrapping_rem(right)),
            };
            in_range(result, ty)?
        }
        (Value::Float(Float(left)), Value::Float(Float(right))) => floats(operator, left, right)?,
        (Value::Span(span), Value::Float(Float(factor)))
        | (Value::Float(Float(factor)), Value::Span(span)) => {
            let beyond = || SqlError::new("22008", "interval out of range");
            Value::Span(span.scaled(factor).ok_or_else(beyond)?)
        }
        (Value::Text(left), Value::Text(right)) => Value::Text(left + &right),
        (Value::Time(point), Value::Span(span)) => Value::Time(shifted(point, span)?),
        (Value::Span(span), Value::Time(point)) => Value::Time(shifted(point, span)?),
        (Value::Stamp(point), Value::Span(span)) => Value::Stamp(shifted(point, span)?),
        (Value::Span(span), Value::Stamp(point)) => Value::Stamp(shifted(point, span)?),
        (Value::Time(left) | Value::Stamp(left), Value::Time(right) | Value::Stamp(right)) => {
            Value::Span(Interval::between(left, right).ok_or_else(beyond)?)
        }
        (Value::Span(left), Value::Span(right)) => {
            let right = if operator == Operator::Minus { right.negated() } else { Some(right) };
            Value::Span(right.and_then(|right| left.plus(right)).ok_or_else(beyond)?)
        }
        (Value::Span(span), Value::Int(factor)) | (Value::Int(factor), Value::Span(span)) => {
            Value::Span(span.times(factor).ok_or_else(beyond)?)
        }
        _ => return Err(SqlError::unsupported("this operator")),
    })
}

fn divided() -> SqlError {
    SqlError::new("22012", "division by zero")
}

fn floats(operator: Operator, left: f64, right: f64) -> Result<Value, SqlError> {
    let result = match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Divide if right == 0.0 && !left.is_nan() => return Err(divided()),
        Operator::Divide => left / right,
        _ => return Err(SqlError::unsupported("this operator")),
    };
    if result.is_infinite() && left.is_finite() && right.is_finite() {
        return Err(SqlError::new("22003", "value out of range: overflow"));
    }
    if result == 0.0
        && left != 0.0
        && matches!(operator, Operator::Times | Operator::Divide)
        && right != 0.0
        && right.is_finite()
    {
        return Err(SqlError::new("22003", "value out of range: underflow"));
    }
    Ok(Value::Float(Float(result)))
}
