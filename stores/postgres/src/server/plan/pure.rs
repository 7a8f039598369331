//! Functions whose value depends on their arguments alone: of texts, arrays and numbers.

use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use super::function::{Function, Sha};
use crate::protocol::{Float, SqlError, Value};
use crate::server::data::digit;

/// The value of such a function.
pub(crate) fn pure(function: Function, args: &[Value]) -> Result<Value, SqlError> {
    Ok(match (function, args) {
        (Function::NullIf, [left, right]) => {
            if left == right {
                Value::Null
            } else {
                left.clone()
            }
        }
        (Function::Concat, args) => Value::Text(args.iter().filter_map(Value::text).collect()),
        (Function::Length, [Value::Text(text)]) => Value::Int(len(text.chars().count())),
        (Function::Lower, [Value::Text(text)]) => Value::Text(text.to_lowercase()),
        (Function::Upper, [Value::Text(text)]) => Value::Text(text.to_uppercase()),
        (Function::Left, [Value::Text(text), Value::Int(count)]) => {
            Value::Text(text.chars().take(kept(text, *count)).collect())
        }
        (Function::Right, [Value::Text(text), Value::Int(count)]) => {
            let skipped = text.chars().count() - kept(text, *count);
            Value::Text(text.chars().skip(skipped).collect())
        }
        (Function::GetBit, [Value::Bits(digits), Value::Int(place)]) => {
            let beyond = || {
                let text = format!("bit index {place} out of valid range (0..{})", len(digits.len()) - 1);
                SqlError::new("2202E", text)
            };
            digit(digits, *place).ok_or_else(beyond)?
        }
        (Function::StringToArray, [text, separator, rest @ ..]) => split(text, separator, rest.first()),
        (Function::Array, values) => Value::Array(values.to_vec()),
        (Function::ArrayAppend, [array, value]) => match array {
            Value::Array(values) => Value::Array([&values[..], std::slice::from_ref(value)].concat()),
            _ => Value::Array(vec![value.clone()]),
        },
        (Function::ArrayLength, [Value::Array(values), Value::Int(dimension)]) => {
            if *dimension == 1 && !values.is_empty() { Value::Int(len(values.len())) } else { Value::Null }
        }
        (Function::Cardinality, [Value::Array(values)]) => Value::Int(len(values.len())),
        (Function::Element, [Value::Array(values), Value::Int(place)]) => {
            let at = usize::try_from(*place).ok().and_then(|place| place.checked_sub(1));
            at.and_then(|at| values.get(at)).cloned().unwrap_or(Value::Null)
        }
        (Function::Slice, [Value::Array(values), Value::Int(from), Value::Int(to)]) => {
            let (from, to) = ((*from).max(1), (*to).min(len(values.len())));
            let range = usize::try_from(from - 1).ok().zip(usize::try_from(to).ok());
            Value::Array(range.and_then(|(from, to)| values.get(from..to)).unwrap_or_default().to_vec())
        }
        (Function::Floor | Function::Ceil | Function::Round, [Value::Float(Float(number))]) => {
            Value::Float(Float(match function {
                Function::Floor => number.floor(),
                Function::Ceil => number.ceil(),
                _ => number.round_ties_even(),
            }))
        }
        (Function::LeftAll, [Value::Array(values), Value::Int(count)]) => {
            let cut = |value: &Value| match value {
                Value::Text(text) => Value::Text(text.chars().take(kept(text, *count)).collect()),
                value => value.clone(),
            };
            Value::Array(values.iter().map(cut).collect())
        }
        (Function::Sha(length), [Value::Bytes(bytes)]) => Value::Bytes(digest(length, bytes)),
        (Function::Encode, [Value::Bytes(bytes), Value::Text(format)]) => match format.as_str() {
            "hex" => Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            _ => return Err(SqlError::unsupported("encode to anything but hex")),
        },
        (Function::ToBits, [Value::Text(text), Value::Int(len)]) => Value::Bits(bits_of(text, *len)?),
        _ => return Err(SqlError::unsupported("this call")),
    })
}

fn digest(length: Sha, bytes: &[u8]) -> Vec<u8> {
    match length {
        Sha::Sha224 => Sha224::digest(bytes).to_vec(),
        Sha::Sha256 => Sha256::digest(bytes).to_vec(),
        Sha::Sha384 => Sha384::digest(bytes).to_vec(),
        Sha::Sha512 => Sha512::digest(bytes).to_vec(),
    }
}

/// The digits of a `bit` that is so long: of a text of binary digits, or of hexadecimal ones behind an `x`. What is too long is cut off.
fn bits_of(text: &str, len: i64) -> Result<String, SqlError> {
    let (digits, radix, name) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, "hexadecimal"),
        None => (text.strip_prefix(['b', 'B']).unwrap_or(text), 2, "binary"),
    };
    let mut bits = String::new();
    for letter in digits.chars() {
        let wrong = || SqlError::new("22P02", format!("\"{letter}\" is not a valid {name} digit"));
        let digit = letter.to_digit(radix).ok_or_else(wrong)?;
        bits.push_str(&if radix == 16 { format!("{digit:04b}") } else { digit.to_string() });
    }
    let len = usize::try_from(len).unwrap_or(0);
    bits.extend(std::iter::repeat_n('0', len.saturating_sub(bits.len())));
    bits.truncate(len);
    Ok(bits)
}

fn len(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// How many characters stay of so many; a negative number is of those that go.
fn kept(text: &str, count: i64) -> usize {
    let all = len(text.chars().count());
    let kept = if count < 0 { (all.saturating_add(count)).max(0) } else { count.min(all) };
    usize::try_from(kept).unwrap_or(0)
}

/// The parts of a text; without a separator its characters. A part that is like `null` is null.
fn split(text: &Value, separator: &Value, null: Option<&Value>) -> Value {
    let Value::Text(text) = text else { return Value::Null };
    let parts: Vec<String> = match separator {
        _ if text.is_empty() => Vec::new(),
        Value::Text(separator) if separator.is_empty() => vec![text.clone()],
        Value::Text(separator) => text.split(separator.as_str()).map(str::to_owned).collect(),
        _ => text.chars().map(String::from).collect(),
    };
    let value = |part: String| {
        let part = Value::Text(part);
        if Some(&part) == null { Value::Null } else { part }
    };
    Value::Array(parts.into_iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_stays_within_its_array() {
        let array = Value::Array((1..=3).map(Value::Int).collect());
        let slice = |from, to| {
            pure(Function::Slice, &[array.clone(), Value::Int(from), Value::Int(to)]).unwrap().text()
        };
        assert_eq!(slice(2, i64::MAX).as_deref(), Some("{2,3}"));
        assert_eq!(slice(-5, 1).as_deref(), Some("{1}"));
        assert_eq!(slice(3, 2).as_deref(), Some("{}"));
        assert_eq!(slice(9, 20).as_deref(), Some("{}"));
    }

    #[test]
    fn a_text_becomes_digits_of_a_length() {
        assert_eq!(bits_of("x1f", 8).as_deref(), Ok("00011111"));
        assert_eq!(bits_of("x1f", 4).as_deref(), Ok("0001"));
        assert_eq!(bits_of("101", 5).as_deref(), Ok("10100"));
        assert_eq!(bits_of("12", 2).unwrap_err().code, "22P02");
    }

    #[test]
    fn a_text_is_split_at_its_separator() {
        let text = |text: &str| Value::Text(text.to_owned());
        let split = |args: &[Value]| pure(Function::StringToArray, args).unwrap().text();
        assert_eq!(split(&[text("a,b,"), text(",")]).as_deref(), Some("{a,b,\"\"}"));
        assert_eq!(split(&[text(""), text(",")]).as_deref(), Some("{}"));
        assert_eq!(split(&[text("ab"), Value::Null]).as_deref(), Some("{a,b}"));
        assert_eq!(split(&[text("a,-"), text(","), text("-")]).as_deref(), Some("{a,NULL}"));
        assert_eq!(split(&[Value::Null, text(",")]), None);
    }
}
