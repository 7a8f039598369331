//! Arguments that are numbers with a fraction, or numbers within bounds (Redis 7.0 `object.c`).

use super::NOT_AN_INTEGER;
use crate::protocol::resp::{self, Reply};
use crate::server::store::Store;

/// Reads a number as C's `strtod` does within Redis's bounds: nothing before or after it, no overflow, not NaN.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    let (sign, magnitude) = match text {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        _ => (1.0, text),
    };
    match magnitude {
        [b'0', b'x' | b'X', rest @ ..] => hexadecimal(rest).map(|value| sign * value),
        [b'0'..=b'9' | b'.', ..] => {
            let value: f64 = std::str::from_utf8(magnitude).ok()?.parse().ok()?;
            let mantissa = magnitude.split(|byte| byte.eq_ignore_ascii_case(&b'e')).next()?;
            let vanished = value == 0.0 && mantissa.iter().any(|byte| (b'1'..=b'9').contains(byte));
            (value.is_finite() && !vanished).then_some(sign * value)
        }
        [b'-' | b'+', ..] => None,
        _ => is_infinity(magnitude).then_some(sign * f64::INFINITY),
    }
}

/// Reads a number as C's `strtod` does by itself: it ends at a zero byte, spaces may come before it, nothing is zero.
pub(crate) fn loose(text: &[u8]) -> Option<f64> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    if text.is_empty() { Some(0.0) } else { double(text.trim_ascii_start()) }
}

/// The same, where too much is infinity.
pub(crate) fn lenient(text: &[u8]) -> Option<f64> {
    loose(text).or_else(|| {
        let digits = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
        if digits { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
    })
}

/// True for a word that means infinity, with a sign or without.
pub(crate) fn is_infinity(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity")
}

fn hexadecimal(text: &[u8]) -> Option<f64> {
    let split = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'p')).unwrap_or(text.len());
    let power: i32 = match &text[split..] {
        [] => 0,
        [_, power @ ..] => std::str::from_utf8(power).ok()?.parse().ok()?,
    };
    let (mut value, mut power, mut point) = (0.0, f64::from(power), false);
    if !text[..split].iter().any(u8::is_ascii_hexdigit) {
        return None;
    }
    for byte in &text[..split] {
        if *byte == b'.' && !point {
            point = true;
            continue;
        }
        value = value * 16.0 + f64::from(char::from(*byte).to_digit(16)?);
        power -= if point { 4.0 } else { 0.0 };
    }
    let value = value * power.exp2();
    value.is_finite().then_some(value)
}

/// An argument that must be a number.
///
/// # Errors
/// The reply to give when it is none.
pub(crate) fn float(arg: &[u8]) -> Result<f64, Reply> {
    double(arg).ok_or(Reply::error("ERR value is not a valid float"))
}

/// How many elements a command is asked for, which must not be negative.
///
/// # Errors
/// The reply to give otherwise.
pub(crate) fn positive(arg: &[u8]) -> Result<usize, Reply> {
    let number = resp::integer(arg).and_then(|number| usize::try_from(number).ok());
    number.ok_or(Reply::error("ERR value is out of range, must be positive"))
}

/// How many random elements are asked for: as many different ones at most, or exactly as many, repeats allowed.
pub(crate) enum Sample {
    Different(usize),
    Repeated(usize),
}

/// The size up to which a reply may repeat elements here.
const REPEATED_MAX: usize = 10_000_000;

impl Sample {
    /// Reads how many elements are asked for; in pairs, half as many can be.
    ///
    /// # Errors
    /// The reply to give when it is no number in bounds.
    pub(crate) fn parse(arg: &[u8], pairs: bool) -> Result<Sample, Reply> {
        let count = resp::integer(arg).ok_or(NOT_AN_INTEGER)?;
        if count == i64::MIN {
            return Err(Reply::error(
                "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
            ));
        }
        if pairs && !(-i64::MAX / 2..=i64::MAX / 2).contains(&count) {
            return Err(Reply::error("ERR value is out of range"));
        }
        let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        Ok(if count < 0 { Sample::Repeated(size.min(REPEATED_MAX)) } else { Sample::Different(size) })
    }

    /// The places of the chosen elements among `len`, in order where none comes twice.
    pub(crate) fn draw(self, store: &mut Store, len: usize) -> Vec<usize> {
        match self {
            _ if len == 0 => Vec::new(),
            Sample::Repeated(count) => (0..count).map(|_| store.random_below(len)).collect(),
            Sample::Different(count) if count >= len => (0..len).collect(),
            Sample::Different(count) => {
                // Each element is chosen with the share that is still wanted of those that are left.
                let mut wanted = count;
                let mut chosen = Vec::with_capacity(count);
                for at in 0..len {
                    if store.random_below(len - at) < wanted {
                        chosen.push(at);
                        wanted -= 1;
                    }
                }
                chosen
            }
        }
    }
}
