//! Types that meet, and the conversion of values.

use crate::protocol::{SqlError, Type, Value};

/// True if values of the two types can be compared, and a column of the one takes the other.
pub(super) fn comparable(a: Type, b: Type) -> bool {
    let is_point = |ty| matches!(ty, Type::Timestamp | Type::Timestamptz);
    let is_oid = |ty| matches!(ty, Type::Oid | Type::Regtype);
    b == Type::Unknown
        || is_oid(a) && is_oid(b)
        || a == b
        || a.is_integer() && b.is_integer()
        || a.is_text() && b.is_text()
        || is_point(a) && is_point(b)
}

/// A value converted to a type that it can be converted to.
pub(crate) fn convert(value: Value, ty: Type) -> Result<Value, SqlError> {
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(value), Type::Int2 | Type::Int4 | Type::Int8) => in_range(Some(value), ty),
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
