//! Values as they are read from their texts.
//!
//! Source: PostgreSQL 15, the input functions of these types.

use super::array;
use super::error::SqlError;
use super::float::Float;
use super::interval::Interval;
use super::time::read_point;
use super::types::Type;
use super::value::Value;

/// Points of time that PostgreSQL knows by a word.
const MOMENTS: [&str; 7] = ["epoch", "infinity", "-infinity", "now", "today", "tomorrow", "yesterday"];

impl Type {
    /// Reads a value of this type from its text.
    pub(crate) fn read(self, text: &str) -> Result<Value, SqlError> {
        let invalid =
            || SqlError::new("22P02", format!("invalid input syntax for type {}: \"{text}\"", self.name()));
        let no_point = || {
            let name = if self == Type::Timestamp { "timestamp" } else { self.name() };
            if MOMENTS.contains(&text.trim().to_ascii_lowercase().as_str()) {
                return SqlError::unsupported(format!("the {name} {text}"));
            }
            SqlError::new("22007", format!("invalid input syntax for type {name}: \"{text}\""))
        };
        match self {
            Type::Bool => match text.trim().to_ascii_lowercase().as_str() {
                "t" | "tr" | "tru" | "true" | "y" | "ye" | "yes" | "on" | "1" => Ok(Value::Bool(true)),
                "f" | "fa" | "fal" | "fals" | "false" | "n" | "no" | "of" | "off" | "0" => {
                    Ok(Value::Bool(false))
                }
                _ => Err(invalid()),
            },
            Type::Int2 | Type::Int4 | Type::Int8 => {
                let digits = text.trim();
                let number = digits.strip_prefix(['+', '-']).unwrap_or(digits);
                if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(invalid());
                }
                let beyond = || {
                    let message = format!("value \"{text}\" is out of range for type {}", self.name());
                    SqlError::new("22003", message)
                };
                let value = digits.parse::<i64>().map_err(|_| beyond())?;
                self.holds(value).then_some(Value::Int(value)).ok_or_else(beyond)
            }
            Type::Text | Type::Varchar(_) | Type::Name | Type::Unknown => Ok(Value::Text(text.to_owned())),
            Type::Bytea => read_bytes(text).map(Value::Bytes).ok_or_else(invalid),
            Type::Float8 => Float::read(text).map(Value::Float).ok_or_else(invalid),
            Type::Enum(enumeration) => {
                let unknown = || {
                    let message = format!("invalid input value for enum {}: \"{text}\"", enumeration.name);
                    SqlError::new("22P02", message)
                };
                enumeration.label(text).map(|(at, label)| Value::Label(at, label)).ok_or_else(unknown)
            }
            Type::Array(element) => {
                let read =
                    |item: Option<String>| item.map_or(Ok(Value::Null), |text| element.ty().read(&text));
                array::split(text)?.into_iter().map(read).collect::<Result<_, _>>().map(Value::Array)
            }
            Type::Oid => {
                text.trim().parse::<u32>().map(|oid| Value::Int(i64::from(oid))).map_err(|_| invalid())
            }
            Type::Timestamp => read_point(text).map(|(micros, _)| Value::Stamp(micros)).ok_or_else(no_point),
            Type::Timestamptz => {
                let point = read_point(text).and_then(|(micros, zone)| micros.checked_sub(zone.unwrap_or(0)));
                point.map(Value::Time).ok_or_else(no_point)
            }
            Type::Interval => Interval::read(text).map(Value::Span).ok_or_else(no_point),
            Type::Uuid => read_uuid(text).map(Value::Uuid).ok_or_else(invalid),
            Type::Regtype | Type::Regclass | Type::Numeric => {
                Err(SqlError::unsupported(format!("a value of {}", self.name())))
            }
            Type::Void => Ok(Value::Void),
        }
    }
}

/// A `uuid` from its 32 digits, with hyphens and braces or without.
fn read_uuid(text: &str) -> Option<u128> {
    let text = text.trim();
    let inner = text.strip_prefix('{').map_or(Some(text), |rest| rest.strip_suffix('}'))?;
    let digits: String = inner.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

/// Bytes: in hexadecimal digits behind `\x`, else as they are, with `\ooo` and `\\` for some.
fn read_bytes(text: &str) -> Option<Vec<u8>> {
    let Some(digits) = text.strip_prefix("\\x") else { return escaped(text.as_bytes()) };
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?);
    digits.as_bytes().chunks(2).map(pair).collect()
}

fn escaped(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let [first, more @ ..] = rest {
        let (byte, after) = match (first, more) {
            (b'\\', [b'\\', more @ ..]) => (b'\\', more),
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', more @ ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), more)
            }
            (b'\\', _) => return None,
            (plain, more) => (*plain, more),
        };
        bytes.push(byte);
        rest = after;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_read_with_hyphens_and_without() {
        let shown = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for written in [shown, "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11"] {
            assert_eq!(Type::Uuid.read(written).unwrap().text().as_deref(), Some(shown));
        }
        assert_eq!(Type::Uuid.read("a0eebc99").unwrap_err().code, "22P02");
    }

    #[test]
    fn an_integer_is_read_within_the_range_of_its_type() {
        assert_eq!(Type::Int8.read(" -9223372036854775808 "), Ok(Value::Int(i64::MIN)));
        assert_eq!(Type::Int4.read("2147483648").unwrap_err().code, "22003");
        assert_eq!(Type::Int4.read("1x").unwrap_err().code, "22P02");
        assert_eq!(Type::Int4.read("").unwrap_err().code, "22P02");
    }
}
