//! Arguments that are numbers with a fraction, or numbers within bounds (Redis 7.0 `object.c`).

use crate::protocol::resp::{self, Reply};

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

/// The part of something of this length from `start` to `end`, both included and counted from the end if negative:
/// where it begins and ends, the end not included.
pub(crate) fn span(len: usize, start: i64, end: i64) -> std::ops::Range<usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let start = if start < 0 { start.saturating_add(len).max(0) } else { start };
    let end = if end < 0 { end.saturating_add(len).max(-1) } else { end }.min(len - 1);
    if start > end {
        return 0..0;
    }
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    place(start)..place(end + 1)
}
