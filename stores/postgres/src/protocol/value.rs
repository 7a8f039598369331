//! Types and values, in the text and the binary format of the wire.
//!
//! Source: PostgreSQL 15, `pg_type.dat` and the input and output functions of these types.

use super::error::SqlError;

/// The type of a column, a parameter or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `boolean`.
    Bool,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `text`.
    Text,
    /// `character varying`, perhaps with a length.
    Varchar(Option<u32>),
    /// `timestamp with time zone`.
    Timestamp,
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
    /// An integer of either width.
    Int(i64),
    /// A text of either type.
    Text(String),
    /// Microseconds since 2000-01-01T00:00:00Z.
    Time(i64),
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
            Type::Int8 => 20,
            Type::Int4 => 23,
            Type::Text | Type::Unknown => 25,
            Type::Varchar(_) => 1043,
            Type::Timestamp => 1184,
        }
    }

    /// The type of this number, as a client gives it for a parameter; none for "find out".
    pub(crate) fn of_oid(oid: u32) -> Result<Option<Type>, SqlError> {
        Ok(Some(match oid {
            0 | 705 => return Ok(None),
            16 => Type::Bool,
            20 => Type::Int8,
            23 => Type::Int4,
            25 => Type::Text,
            1043 => Type::Varchar(None),
            1184 => Type::Timestamp,
            _ => return Err(SqlError::unsupported(format!("the type with OID {oid}"))),
        }))
    }

    /// The bytes that a value takes; -1 for any number.
    pub(crate) fn size(self) -> i16 {
        match self {
            Type::Bool => 1,
            Type::Int4 => 4,
            Type::Int8 | Type::Timestamp => 8,
            Type::Text | Type::Varchar(_) | Type::Unknown => -1,
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
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Text => "text",
            Type::Varchar(_) => "character varying",
            Type::Timestamp => "timestamp with time zone",
            Type::Unknown => "unknown",
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Type::Int4 | Type::Int8)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Type::Text | Type::Varchar(_))
    }

    /// Reads a value of this type from its text.
    pub(crate) fn read(self, text: &str) -> Result<Value, SqlError> {
        let invalid =
            || SqlError::new("22P02", format!("invalid input syntax for type {}: \"{text}\"", self.name()));
        match self {
            Type::Bool => match text.trim().to_ascii_lowercase().as_str() {
                "t" | "tr" | "tru" | "true" | "y" | "ye" | "yes" | "on" | "1" => Ok(Value::Bool(true)),
                "f" | "fa" | "fal" | "fals" | "false" | "n" | "no" | "of" | "off" | "0" => {
                    Ok(Value::Bool(false))
                }
                _ => Err(invalid()),
            },
            Type::Int4 | Type::Int8 => {
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
            Type::Text | Type::Varchar(_) | Type::Unknown => Ok(Value::Text(text.to_owned())),
            Type::Timestamp => Err(SqlError::unsupported("reading a timestamp")),
        }
    }

    /// True if an integer of this type can be `value`.
    pub(crate) fn holds(self, value: i64) -> bool {
        self != Type::Int4 || i32::try_from(value).is_ok()
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
            (_, Type::Int4) => bytes
                .try_into()
                .map(|bytes| Value::Int(i64::from(i32::from_be_bytes(bytes))))
                .map_err(incorrect),
            (_, Type::Int8) => {
                bytes.try_into().map(|bytes| Value::Int(i64::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Timestamp) => {
                bytes.try_into().map(|bytes| Value::Time(i64::from_be_bytes(bytes))).map_err(incorrect)
            }
            (_, Type::Text | Type::Varchar(_) | Type::Unknown) => Ok(Value::Text(as_text()?.to_owned())),
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
            Value::Text(value) => Some(value.clone()),
            Value::Time(micros) => Some(time_text(*micros)),
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
            // An `integer` column holds nothing wider.
            Value::Int(value) if ty == Type::Int4 => Some((*value as i32).to_be_bytes().to_vec()),
            Value::Int(value) | Value::Time(value) => Some(value.to_be_bytes().to_vec()),
            Value::Text(value) => Some(value.clone().into_bytes()),
        }
    }
}

/// Seconds from 1970 to 2000.
const CENTURY_S: i64 = 946_684_800;

/// The microseconds since 2000 of nanoseconds since 1970.
pub(crate) fn timestamp(wall_ns: u64) -> i64 {
    i64::try_from(wall_ns / 1_000).unwrap_or(i64::MAX) - CENTURY_S * 1_000_000
}

/// A timestamp as `ISO, MDY` shows it in UTC, its fraction without trailing zeros.
fn time_text(micros: i64) -> String {
    let (secs, fraction) = (micros.div_euclid(1_000_000) + CENTURY_S, micros.rem_euclid(1_000_000));
    let (days, of_day) = (secs.div_euclid(86_400), secs.rem_euclid(86_400));
    // Howard Hinnant, "chrono-compatible low-level date algorithms": civil_from_days.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let fraction = if fraction == 0 {
        String::new()
    } else {
        format!(".{fraction:06}").trim_end_matches('0').to_owned()
    };
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}+00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_reads_as_postgres_shows_it() {
        assert_eq!(time_text(0), "2000-01-01 00:00:00+00");
        assert_eq!(time_text(timestamp(1_582_934_400_250_000_000)), "2020-02-29 00:00:00.25+00");
        assert_eq!(time_text(-1), "1999-12-31 23:59:59.999999+00");
    }

    #[test]
    fn an_integer_is_read_within_the_range_of_its_type() {
        assert_eq!(Type::Int8.read(" -9223372036854775808 "), Ok(Value::Int(i64::MIN)));
        assert_eq!(Type::Int4.read("2147483648").unwrap_err().code, "22003");
        assert_eq!(Type::Int4.read("1x").unwrap_err().code, "22P02");
        assert_eq!(Type::Int4.read("").unwrap_err().code, "22P02");
    }
}
