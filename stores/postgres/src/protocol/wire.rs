//! Values on the wire, in the text and the binary format.
//!
//! Source: PostgreSQL 15, the send and receive functions of these types.

use super::array;
use super::error::SqlError;
use super::float::Float;
use super::interval::Interval;
use super::types::Type;
use super::value::Value;

/// How a value is written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// As people read it.
    Text,
    /// As machines do.
    Binary,
}

impl Format {
    /// The format of a code of the protocol.
    pub(crate) fn of(code: i16) -> Result<Format, SqlError> {
        match code {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            _ => Err(SqlError::new("22023", format!("unsupported format code: {code}"))),
        }
    }
}

impl Type {
    /// Reads a parameter of this type.
    pub(crate) fn decode(self, bytes: &[u8], format: Format) -> Result<Value, SqlError> {
        let as_text = || {
            let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            text.ok_or_else(|| SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\""))
        };
        let incorrect = |_| incorrect();
        match (format, self) {
            (Format::Text, _) => self.read(as_text()?),
            (_, Type::Bool) => <[u8; 1]>::try_from(bytes).map(|[b]| Value::Bool(b != 0)).map_err(incorrect),
            (_, Type::Int2) => bytes
                .try_into()
                .map(|bytes| Value::Int(i64::from(i16::from_be_bytes(bytes))))
                .map_err(incorrect),
            (_, Type::Int4) => bytes
                .try_into()
                .map(|bytes| Value::Int(i64::from(i32::from_be_bytes(bytes))))
                .map_err(incorrect),
            (_, Type::Int8) => {
                bytes.try_into().map(|bytes| Value::Int(i64::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Timestamp) => {
                bytes.try_into().map(|bytes| Value::Stamp(i64::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Timestamptz) => {
                bytes.try_into().map(|bytes| Value::Time(i64::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Uuid) => {
                bytes.try_into().map(|bytes| Value::Uuid(u128::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Float8) => bytes
                .try_into()
                .map(|bytes| Value::Float(Float(f64::from_be_bytes(bytes))))
                .map_err(incorrect),
            (_, Type::Enum(_)) => self.read(as_text()?),
            (_, Type::Oid) => bytes
                .try_into()
                .map(|bytes| Value::Int(i64::from(u32::from_be_bytes(bytes))))
                .map_err(incorrect),
            (_, Type::Bytea) => Ok(Value::Bytes(bytes.to_vec())),
            (_, Type::Array(element)) => {
                let read = |item: Option<&[u8]>| {
                    item.map_or(Ok(Value::Null), |bytes| element.ty().decode(bytes, Format::Binary))
                };
                array::unframe(bytes)?.into_iter().map(read).collect::<Result<_, _>>().map(Value::Array)
            }
            (_, Type::Interval) => read_span(bytes).map(Value::Span),
            (_, Type::Void | Type::Regtype | Type::Regclass | Type::Numeric) => {
                Err(SqlError::unsupported("a parameter of this type in binary"))
            }
            (_, Type::Text | Type::Varchar(_) | Type::Name | Type::Unknown) => {
                Ok(Value::Text(as_text()?.to_owned()))
            }
        }
    }
}

impl Value {
    /// The value as a field of a row; none for null.
    pub(crate) fn encode(&self, ty: Type, format: Format) -> Option<Vec<u8>> {
        if format == Format::Text {
            return self.text().map(String::into_bytes);
        }
        match self {
            Value::Null => None,
            Value::Bool(value) => Some(vec![u8::from(*value)]),
            // A column holds nothing wider.
            Value::Int(value) if ty == Type::Int2 => Some((*value as i16).to_be_bytes().to_vec()),
            Value::Int(value) if ty == Type::Oid => Some((*value as u32).to_be_bytes().to_vec()),
            Value::Int(value) if ty == Type::Int4 => Some((*value as i32).to_be_bytes().to_vec()),
            Value::Int(_) if ty == Type::Numeric => self.text().map(|text| decimal(&text)),
            Value::Numeric(_) => self.text().map(|text| decimal(&text)),
            Value::Int(value) | Value::Time(value) | Value::Stamp(value) => {
                Some(value.to_be_bytes().to_vec())
            }
            Value::Span(Interval { months, days, micros }) => {
                Some([&micros.to_be_bytes()[..], &days.to_be_bytes(), &months.to_be_bytes()].concat())
            }
            Value::Uuid(bits) => Some(bits.to_be_bytes().to_vec()),
            Value::Void => Some(Vec::new()),
            Value::Text(value) => Some(value.clone().into_bytes()),
            Value::Label(_, label) => Some(label.as_bytes().to_vec()),
            Value::Float(value) => Some(value.0.to_be_bytes().to_vec()),
            Value::Bytes(bytes) => Some(bytes.clone()),
            Value::Array(values) => match ty {
                Type::Array(element) => {
                    let ty = element.ty();
                    let items = values.iter().map(|value| value.encode(ty, Format::Binary));
                    Some(array::framed(ty.oid(), &items.collect::<Vec<_>>()))
                }
                _ => None,
            },
        }
    }
}

fn incorrect() -> SqlError {
    SqlError::new("22P03", "incorrect binary data format")
}

/// A span: microseconds, days and months.
fn read_span(bytes: &[u8]) -> Result<Interval, SqlError> {
    let (micros, rest) = bytes.split_first_chunk().ok_or_else(incorrect)?;
    let (days, rest) = rest.split_first_chunk().ok_or_else(incorrect)?;
    let months = rest.try_into().map_err(|_| incorrect())?;
    Ok(Interval {
        months: i32::from_be_bytes(months),
        days: i32::from_be_bytes(*days),
        micros: i64::from_be_bytes(*micros),
    })
}

/// A number in digits as a `numeric`: digits of base 10,000, the place of the first one, a sign, and how many digits of base 10 come behind
/// the point.
fn decimal(text: &str) -> Vec<u8> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (0x4000_i16, digits),
        None => (0, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let before = "0".repeat(whole.len().next_multiple_of(4) - whole.len());
    let after = "0".repeat(fraction.len().next_multiple_of(4) - fraction.len());
    let all = [&before, whole, fraction, &after].concat();
    let parts = all.as_bytes().chunks(4);
    let parts =
        parts.map(|part| part.iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0')));
    let mut parts: Vec<i16> = parts.collect();
    let short = |count: usize| i16::try_from(count).unwrap_or(i16::MAX);
    let leading = parts.iter().take_while(|part| **part == 0).count();
    let weight = if leading == parts.len() { 0 } else { short(whole.len().div_ceil(4)) - 1 - short(leading) };
    parts.drain(..leading);
    while parts.last() == Some(&0) {
        parts.pop();
    }
    let head = [short(parts.len()), weight, sign, short(fraction.len())];
    head.into_iter().chain(parts).flat_map(i16::to_be_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_digits_of_base_10000() {
        let numbers = |text: &str| {
            let bytes = decimal(text);
            bytes.chunks(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect::<Vec<_>>()
        };
        assert_eq!(numbers("0"), [0, 0, 0, 0]);
        assert_eq!(numbers("1.500000"), [2, 0, 0, 6, 1, 5000]);
        assert_eq!(numbers("-0.000250"), [2, -1, 0x4000, 6, 2, 5000]);
        assert_eq!(numbers("120000000"), [2, 2, 0, 0, 1, 2000]);
    }
}
