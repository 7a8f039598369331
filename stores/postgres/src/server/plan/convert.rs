//! Types that meet, and the conversion of values.

use crate::protocol::{Float, SqlError, Type, Value};

/// True if values of the two types can be compared, and a column of the one takes the other.
pub(super) fn comparable(a: Type, b: Type) -> bool {
    let is_point = |ty| matches!(ty, Type::Timestamp | Type::Timestamptz);
    let is_oid = |ty| matches!(ty, Type::Oid | Type::Regtype);
    b == Type::Unknown
        || is_oid(a) && (is_oid(b) || b.is_integer())
        || a == b
        || a.is_number() && b.is_number()
        || a.is_text() && b.is_text()
        || is_point(a) && is_point(b)
        || arrays(a, b).is_some_and(|(a, b)| comparable(a, b) && a.is_number() == b.is_number())
}

/// The types of the elements of two arrays.
fn arrays(a: Type, b: Type) -> Option<(Type, Type)> {
    match (a, b) {
        (Type::Array(a), Type::Array(b)) => Some((a.ty(), b.ty())),
        _ => None,
    }
}

/// True if a value of the one type can be cast to the other.
pub(super) fn castable(from: Type, to: Type) -> bool {
    comparable(to, from)
        || to.is_text()
        || from.is_text()
        || matches!((from, to), (Type::Bool, Type::Int4) | (Type::Int4, Type::Bool))
        || arrays(from, to).is_some_and(|(from, to)| castable(from, to))
}

/// A value converted to a type that it can be converted to.
pub(crate) fn convert(value: Value, ty: Type) -> Result<Value, SqlError> {
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(value), Type::Int2 | Type::Int4 | Type::Int8) => in_range(Some(value), ty),
        (Value::Int(value), Type::Float8) => Ok(Value::Float(Float(value as f64))),
        (Value::Int(value), Type::Bool) => Ok(Value::Bool(value != 0)),
        (Value::Bool(value), Type::Int4) => Ok(Value::Int(i64::from(value))),
        (Value::Float(Float(value)), Type::Int2 | Type::Int4 | Type::Int8) => {
            let rounded = value.round_ties_even();
            // Beyond this range no number of 64 bits has such a value.
            let whole = (-9.3e18..9.2e18).contains(&rounded).then_some(rounded as i64);
            in_range(whole, ty)
        }
        (Value::Numeric(value), Type::Float8) => Ok(Value::Float(Float(value as f64 / 1e6))),
        (Value::Numeric(value), Type::Int2 | Type::Int4 | Type::Int8) => {
            let half = if value < 0 { -500_000 } else { 500_000 };
            in_range(value.checked_add(half).map(|value| value / 1_000_000), ty)
        }
        (Value::Array(values), Type::Array(element)) => {
            let values = values.into_iter().map(|value| convert(value, element.ty()));
            values.collect::<Result<_, _>>().map(Value::Array)
        }
        (Value::Time(micros), Type::Timestamp) => Ok(Value::Stamp(micros)),
        (Value::Stamp(micros), Type::Timestamptz) => Ok(Value::Time(micros)),
        (Value::Text(text), Type::Varchar(Some(max))) => {
            let len = text.trim_end_matches(' ').chars().count();
            let fits = len <= max as usize;
            let text = text.chars().take(max as usize).collect();
            let long = || SqlError::new("22001", format!("value too long for type character varying({max})"));
            fits.then_some(Value::Text(text)).ok_or_else(long)
        }
        (Value::Text(text), _) => ty.read(&text),
        (Value::Bool(value), Type::Text | Type::Varchar(_)) => Ok(Value::Text(value.to_string())),
        (value, Type::Text | Type::Varchar(_)) => convert(Value::Text(value.text().unwrap_or_default()), ty),
        (value, _) => Ok(value),
    }
}

/// An integer as a value of its type.
pub(crate) fn in_range(value: Option<i64>, ty: Type) -> Result<Value, SqlError> {
    let beyond = || SqlError::new("22003", format!("{} out of range", ty.name()));
    value.filter(|value| ty.holds(*value)).map(Value::Int).ok_or_else(beyond)
}
