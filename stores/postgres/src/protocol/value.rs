//! Values, and how they are written as text.
//!
//! Source: PostgreSQL 15, the output functions of these types.

use std::sync::Arc;

use super::array;
use super::float::Float;
use super::interval::Interval;
use super::time::point_text;

/// A value. An integer's width is its type's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of any width.
    Int(i64),
    /// A number of `double precision`.
    Float(Float),
    /// A `numeric` in millionths.
    Numeric(i64),
    /// A text of either type.
    Text(String),
    /// A label of an enum, with its place in that.
    Label(u32, Arc<str>),
    /// A point of time of a `timestamp with time zone`, in microseconds since 2000-01-01T00:00:00Z.
    Time(i64),
    /// That of a `timestamp`, in microseconds since 2000-01-01 00:00:00.
    Stamp(i64),
    /// A span of time.
    Span(Interval),
    /// The 128 bits of a `uuid`.
    Uuid(u128),
    /// Bytes of a `bytea`.
    Bytes(Vec<u8>),
    /// The elements of an array.
    Array(Vec<Value>),
    /// The result of a function that is called for its effect.
    Void,
}

impl Value {
    /// The value in the text format; none for null.
    #[must_use]
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Value::Null => None,
            Value::Bool(value) => Some(if *value { "t" } else { "f" }.to_owned()),
            Value::Int(value) => Some(value.to_string()),
            Value::Float(value) => Some(value.text()),
            Value::Numeric(millionths) => {
                let sign = if *millionths < 0 { "-" } else { "" };
                let size = millionths.unsigned_abs();
                Some(format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000))
            }
            Value::Label(_, label) => Some(label.to_string()),
            Value::Text(value) => Some(value.clone()),
            Value::Bytes(bytes) => Some(bytes_text(bytes)),
            Value::Array(values) => Some(array::joined(&values.iter().map(Value::text).collect::<Vec<_>>())),
            Value::Time(micros) => Some(format!("{}+00", point_text(*micros))),
            Value::Stamp(micros) => Some(point_text(*micros)),
            Value::Span(span) => Some(span.text()),
            Value::Uuid(bits) => Some(uuid_text(*bits)),
            Value::Void => Some(String::new()),
        }
    }
}

fn uuid_text(bits: u128) -> String {
    let digits = format!("{bits:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn bytes_text(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\\x{}", digits.concat())
}
