//! Types and values, in the text and the binary format of the wire.
//!
//! Source: PostgreSQL 15, `pg_type.dat` and the input and output functions of these types.

use super::array::{self, Element};
use super::error::SqlError;
use super::json;
use super::time::{Interval, point_text, read_point};

/// The type of a column, a parameter or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `boolean`.
    Bool,
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `text`.
    Text,
    /// `character varying`, perhaps with a length.
    Varchar(Option<u32>),
    /// `timestamp`, without a time zone.
    Timestamp,
    /// `timestamp with time zone`.
    Timestamptz,
    /// `interval`.
    Interval,
    /// `uuid`.
    Uuid,
    /// `bytea`.
    Bytea,
    /// `jsonb`.
    Jsonb,
    /// `name`, of the catalogue.
    Name,
    /// `oid`, of the catalogue.
    Oid,
    /// `regtype`: the OID of a type, shown as its name.
    Regtype,
    /// An array of one dimension.
    Array(Element),
    /// The result of a function that is called for its effect.
    Void,
    /// A quoted literal whose type nothing says; a result of it is text.
    Unknown,
}

/// A value. An integer's width is its type's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of any width.
    Int(i64),
    /// A text of either type.
    Text(String),
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
    /// A `jsonb` in its one form.
    Json(String),
    /// The elements of an array.
    Array(Vec<Value>),
    /// The result of a function that is called for its effect.
    Void,
}

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
    /// The number of the type; an expression of unknown type comes out as text.
    #[must_use]
    pub(crate) fn oid(self) -> u32 {
        match self {
            Type::Bool => 16,
            Type::Bytea => 17,
            Type::Name => 19,
            Type::Oid => 26,
            Type::Regtype => 2206,
            Type::Jsonb => 3802,
            Type::Array(element) => element.oid(),
            Type::Int8 => 20,
            Type::Int2 => 21,
            Type::Int4 => 23,
            Type::Text | Type::Unknown => 25,
            Type::Varchar(_) => 1043,
            Type::Timestamp => 1114,
            Type::Timestamptz => 1184,
            Type::Interval => 1186,
            Type::Void => 2278,
            Type::Uuid => 2950,
        }
    }

    /// The type of this number, as a client gives it for a parameter; none for "find out".
    pub(crate) fn of_oid(oid: u32) -> Result<Option<Type>, SqlError> {
        Ok(Some(match oid {
            0 | 705 => return Ok(None),
            16 => Type::Bool,
            17 => Type::Bytea,
            19 => Type::Name,
            26 => Type::Oid,
            3802 => Type::Jsonb,
            20 => Type::Int8,
            21 => Type::Int2,
            23 => Type::Int4,
            25 => Type::Text,
            1043 => Type::Varchar(None),
            1114 => Type::Timestamp,
            1184 => Type::Timestamptz,
            1186 => Type::Interval,
            2950 => Type::Uuid,
            _ => {
                let refused = || SqlError::unsupported(format!("the type with OID {oid}"));
                Type::Array(Element::of_oid(oid).ok_or_else(refused)?)
            }
        }))
    }

    /// The bytes that a value takes; -1 for any number.
    pub(crate) fn size(self) -> i16 {
        match self {
            Type::Bool => 1,
            Type::Int2 => 2,
            Type::Int4 => 4,
            Type::Int8 | Type::Timestamp | Type::Timestamptz => 8,
            Type::Interval | Type::Uuid => 16,
            Type::Void | Type::Oid | Type::Regtype => 4,
            Type::Name => 64,
            Type::Text | Type::Varchar(_) | Type::Unknown | Type::Bytea | Type::Jsonb | Type::Array(_) => -1,
        }
    }

    /// The type's modifier: the length of a `varchar(n)`, with its header; -1 for none.
    pub(crate) fn modifier(self) -> i32 {
        match self {
            Type::Varchar(Some(len)) => i32::try_from(len).unwrap_or(i32::MAX - 4) + 4,
            _ => -1,
        }
    }

    /// The name as errors give it.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Bool => "boolean",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Text => "text",
            Type::Varchar(_) => "character varying",
            Type::Timestamp => "timestamp without time zone",
            Type::Timestamptz => "timestamp with time zone",
            Type::Interval => "interval",
            Type::Uuid => "uuid",
            Type::Bytea => "bytea",
            Type::Jsonb => "jsonb",
            Type::Name => "name",
            Type::Oid => "oid",
            Type::Regtype => "regtype",
            Type::Array(element) => element.name(),
            Type::Void => "void",
            Type::Unknown => "unknown",
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Type::Int2 | Type::Int4 | Type::Int8)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Type::Text | Type::Varchar(_) | Type::Name)
    }

    /// Reads a value of this type from its text.
    pub(crate) fn read(self, text: &str) -> Result<Value, SqlError> {
        let invalid =
            || SqlError::new("22P02", format!("invalid input syntax for type {}: \"{text}\"", self.name()));
        let no_point = || {
            let name = if self == Type::Timestamp { "timestamp" } else { self.name() };
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
            Type::Jsonb => json::canonical(text).map(Value::Json),
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
            Type::Regtype => Err(SqlError::unsupported("a value of regtype")),
            Type::Void => Ok(Value::Void),
        }
    }

    /// True if an integer of this type can be `value`.
    pub(crate) fn holds(self, value: i64) -> bool {
        match self {
            Type::Int2 => i16::try_from(value).is_ok(),
            Type::Int4 => i32::try_from(value).is_ok(),
            _ => true,
        }
    }

    /// True if an integer of this type becomes one of the other by itself.
    pub(crate) fn widens_to(self, other: Type) -> bool {
        self.is_integer() && other.is_integer() && self.size() < other.size()
    }

    /// Reads a parameter of this type.
    pub(crate) fn decode(self, bytes: &[u8], format: Format) -> Result<Value, SqlError> {
        let as_text = || {
            let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            text.ok_or_else(|| SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\""))
        };
        let incorrect = |_| SqlError::new("22P03", "incorrect binary data format");
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
            // Behind the number of its version.
            (_, Type::Jsonb) => match as_text()?.strip_prefix('\u{1}') {
                Some(text) => json::canonical(text).map(Value::Json),
                None => Err(SqlError::unsupported("this version of jsonb")),
            },
            (_, Type::Interval | Type::Void | Type::Regtype) => {
                Err(SqlError::unsupported("a parameter of this type in binary"))
            }
            (_, Type::Text | Type::Varchar(_) | Type::Name | Type::Unknown) => {
                Ok(Value::Text(as_text()?.to_owned()))
            }
        }
    }
}

impl Element {
    /// The element of arrays of values of a type, if there are any.
    pub(crate) fn of(ty: Type) -> Option<Element> {
        Some(match ty {
            Type::Bool => Element::Bool,
            Type::Int2 => Element::Int2,
            Type::Int4 => Element::Int4,
            Type::Int8 => Element::Int8,
            Type::Text => Element::Text,
            Type::Varchar(_) => Element::Varchar,
            Type::Timestamp => Element::Timestamp,
            Type::Timestamptz => Element::Timestamptz,
            Type::Uuid => Element::Uuid,
            Type::Jsonb => Element::Jsonb,
            _ => return None,
        })
    }

    pub(crate) fn ty(self) -> Type {
        match self {
            Element::Bool => Type::Bool,
            Element::Int2 => Type::Int2,
            Element::Int4 => Type::Int4,
            Element::Int8 => Type::Int8,
            Element::Text => Type::Text,
            Element::Varchar => Type::Varchar(None),
            Element::Timestamp => Type::Timestamp,
            Element::Timestamptz => Type::Timestamptz,
            Element::Uuid => Type::Uuid,
            Element::Jsonb => Type::Jsonb,
        }
    }
}

impl Value {
    /// The value in the text format; none for null.
    #[must_use]
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Value::Null => None,
            Value::Bool(value) => Some(if *value { "t" } else { "f" }.to_owned()),
            Value::Int(value) => Some(value.to_string()),
            Value::Text(value) | Value::Json(value) => Some(value.clone()),
            Value::Bytes(bytes) => Some(bytes_text(bytes)),
            Value::Array(values) => Some(array::joined(&values.iter().map(Value::text).collect::<Vec<_>>())),
            Value::Time(micros) => Some(format!("{}+00", point_text(*micros))),
            Value::Stamp(micros) => Some(point_text(*micros)),
            Value::Span(span) => Some(span.text()),
            Value::Uuid(bits) => Some(uuid_text(*bits)),
            Value::Void => Some(String::new()),
        }
    }

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
            Value::Int(value) | Value::Time(value) | Value::Stamp(value) => {
                Some(value.to_be_bytes().to_vec())
            }
            Value::Span(Interval { months, days, micros }) => {
                Some([&micros.to_be_bytes()[..], &days.to_be_bytes(), &months.to_be_bytes()].concat())
            }
            Value::Uuid(bits) => Some(bits.to_be_bytes().to_vec()),
            Value::Void => Some(Vec::new()),
            Value::Text(value) => Some(value.clone().into_bytes()),
            Value::Bytes(bytes) => Some(bytes.clone()),
            Value::Json(value) => Some([b"\x01", value.as_bytes()].concat()),
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

/// A `uuid` from its 32 digits, with hyphens and braces or without.
fn read_uuid(text: &str) -> Option<u128> {
    let text = text.trim();
    let inner = text.strip_prefix('{').map_or(Some(text), |rest| rest.strip_suffix('}'))?;
    let digits: String = inner.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

fn uuid_text(bits: u128) -> String {
    let digits = format!("{bits:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Bytes in their hexadecimal form.
fn read_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?;
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?);
    digits.as_bytes().chunks(2).map(pair).collect()
}

fn bytes_text(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\\x{}", digits.concat())
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
