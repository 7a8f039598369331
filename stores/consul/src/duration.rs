//! Spans as Go writes and reads them: `10s`, `1m30s`, `250ms`.
//!
//! *Source:* `time.ParseDuration` and `Duration.String` of Go.

use std::time::Duration;

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The span that a text is; none if it is none, or is negative.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut sum: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let (_, nanos) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(product(number, *nanos)?)?;
        rest = next;
    }
    // Go counts in 63 bits.
    (sum <= i64::MAX as u64).then(|| Duration::from_nanos(sum))
}

/// A decimal number times a whole one, what is less than one cut off.
fn product(number: &str, by: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut scale = by;
    let mut parts = 0_u64;
    for digit in part.chars() {
        scale /= 10;
        parts += u64::from(digit.to_digit(10)?) * scale;
    }
    whole.checked_mul(by)?.checked_add(parts)
}

/// The text of a span of whole milliseconds, as short as Go reads it.
#[must_use]
pub fn text(span: Duration) -> String {
    match span.subsec_millis() {
        0 => format!("{}s", span.as_secs()),
        _ => format!("{}ms", span.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn go_reads_the_same() {
        let ms = Duration::from_millis;
        let read = [
            ("10s", ms(10_000)),
            ("1m30s", ms(90_000)),
            ("250ms", ms(250)),
            ("1.5s", ms(1_500)),
            (".5s", ms(500)),
            ("0", ms(0)),
            ("1h", ms(3_600_000)),
            ("5us", Duration::from_micros(5)),
        ];
        for (text, span) in read {
            assert_eq!(parse(text), Some(span), "{text}");
        }
        for text in ["", "10", "s", "10 s", "-1s", "1x", "1s2", ".s", "9999999999999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(millis in 0..100_000_000_u64) {
            let span = Duration::from_millis(millis);
            prop_assert_eq!(parse(&text(span)), Some(span));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(text in "[0-9.hmsnuµ+-]{0,12}") {
            let _ = parse(&text);
        }
    }
}
