//! Spans of time as people write them: `10s`, `250ms`, `1.5 x ttl`.
//!
//! A span is either fixed or a multiple of the lease time, which is known only when a plan is drawn. Decimals are kept
//! as integers, so that a span means the same on every platform. Compound spans (`1m30s`) and sums are left out on
//! purpose: `90s` says it as well.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::text::nearest;
use crate::time::nanos;

/// A span of time, fixed or relative to the lease time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Always this long.
    Fixed(Duration),
    /// So many lease times, in millionths.
    Leases {
        /// Millionths of a lease time.
        millionths: u64,
    },
}

/// The reason why a text is not a span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// It does not start with a number.
    #[error("`{0}` is not a span of time: write it like `250ms`, `10s` or `1.5 x ttl`")]
    Form(String),
    /// It is a number alone.
    #[error("`{0}` has no unit: write `{0}ms`, `{0}s` or `{0} x ttl`")]
    NoUnit(String),
    /// Its unit is not known.
    #[error("there is no unit `{unit}`{}: use ns, us, ms, s, m, h or `x ttl`", meant(.unit))]
    Unit {
        /// The unit given.
        unit: String,
    },
    /// It is negative.
    #[error("`{0}` is negative: a span of time starts at 0")]
    Negative(String),
    /// It has more digits than are kept.
    #[error("`{0}` is too fine: spans are kept to the nanosecond, multiples of ttl to the millionth")]
    TooFine(String),
    /// It is longer than a year or than a million lease times.
    #[error("`{0}` is too long: the longest span is 8760h, or 1000000 x ttl")]
    TooLong(String),
}

fn meant(unit: &str) -> String {
    let all = UNITS.iter().map(|(name, _)| *name).chain(["x ttl"]);
    let near = nearest(unit, all).or_else(|| spelled_out(unit));
    near.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn spelled_out(unit: &str) -> Option<&'static str> {
    match unit {
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "min" | "mins" | "minute" | "minutes" => Some("m"),
        "hr" | "hour" | "hours" => Some("h"),
        "ttl" | "leases" => Some("x ttl"),
        _ => None,
    }
}

/// The units and their nanoseconds, longest first.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const MILLION: u64 = 1_000_000;
const YEAR: Duration = Duration::from_secs(8_760 * 3_600);

impl Span {
    /// How long it is when a lease lasts `ttl`.
    #[must_use]
    pub fn resolve(self, ttl: Duration) -> Duration {
        match self {
            Span::Fixed(span) => span,
            Span::Leases { millionths } => {
                let ns = u128::from(nanos(ttl)) * u128::from(millionths) / u128::from(MILLION);
                Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
            }
        }
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Span, SpanError> {
        let text = text.trim();
        let owned = || text.chars().take(40).collect::<String>();
        if text == "ttl" {
            return Ok(Span::Leases { millionths: MILLION });
        }
        if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(SpanError::Negative(owned()));
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim_start());
        let number = decimal(number).ok_or_else(|| SpanError::Form(owned()))?;
        if unit.is_empty() {
            return Err(SpanError::NoUnit(owned()));
        }
        let leases = unit.strip_prefix('x').is_some_and(|rest| rest.trim_start() == "ttl");
        let scale = if leases { Some(MILLION) } else { scale_of(unit) };
        let scale = scale.ok_or_else(|| SpanError::Unit { unit: unit.chars().take(40).collect() })?;
        let count = number.times(scale).map_err(|why| match why {
            Inexact::TooFine => SpanError::TooFine(owned()),
            Inexact::TooLarge => SpanError::TooLong(owned()),
        })?;
        let span = if leases {
            Span::Leases { millionths: count }
        } else {
            Span::Fixed(Duration::from_nanos(count))
        };
        match span {
            Span::Leases { millionths } if millionths > MILLION * MILLION => Err(SpanError::TooLong(owned())),
            Span::Fixed(span) if span > YEAR => Err(SpanError::TooLong(owned())),
            span => Ok(span),
        }
    }
}

fn scale_of(unit: &str) -> Option<u64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns)
}

/// A decimal number: `digits` with the point `places` from the right.
struct Decimal {
    digits: u64,
    places: u32,
}

enum Inexact {
    TooFine,
    TooLarge,
}

/// Reads `12`, `1.5` or `.5`; `None` for anything else.
fn decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = [whole, fraction].concat();
    // Eighteen digits fit in 64 bits; more are never meant.
    let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| Decimal { digits: digits.parse().unwrap_or(u64::MAX), places: fraction.len() as u32 })
}

impl Decimal {
    fn times(&self, scale: u64) -> Result<u64, Inexact> {
        let product = u128::from(self.digits) * u128::from(scale);
        let divisor = 10_u128.pow(self.places);
        if !product.is_multiple_of(divisor) {
            return Err(Inexact::TooFine);
        }
        u64::try_from(product / divisor).map_err(|_| Inexact::TooLarge)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Fixed(Duration::ZERO) => f.write_str("0ms"),
            Span::Fixed(span) => {
                let ns = nanos(*span);
                let exact = UNITS.iter().find(|(_, unit)| ns.is_multiple_of(*unit));
                let (name, unit) = exact.expect("every count of nanoseconds is a multiple of one");
                write!(f, "{}{name}", ns / unit)
            }
            Span::Leases { millionths } => {
                let (whole, fraction) = (millionths / MILLION, millionths % MILLION);
                if fraction == 0 {
                    return write!(f, "{whole} x ttl");
                }
                let fraction = format!("{fraction:06}");
                write!(f, "{whole}.{} x ttl", fraction.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Span>().unwrap_err().to_string()
    }

    #[test]
    fn a_span_reads_as_it_is_written() {
        assert_eq!("1.5s".parse(), Ok(Span::Fixed(Duration::from_millis(1_500))));
        assert_eq!(" 250 ms".parse(), Ok(Span::Fixed(Duration::from_millis(250))));
        assert_eq!("1.5 x ttl".parse(), Ok(Span::Leases { millionths: 1_500_000 }));
        assert_eq!(
            "0.5x ttl".parse::<Span>().unwrap().resolve(Duration::from_secs(2)),
            Duration::from_secs(1)
        );
        assert_eq!("ttl".parse::<Span>().unwrap().to_string(), "1 x ttl");
    }

    #[test]
    fn a_text_that_is_no_span_is_refused_with_a_remedy() {
        assert!(error("-5s").contains("negative"));
        assert!(error("10").contains("`10s`"));
        assert!(error("10 seconds").contains("did you mean `s`"));
        assert!(error("2 parsecs").contains("there is no unit `parsecs`"));
        assert!(error("soon").contains("write it like"));
        assert!(error("0.5ns").contains("too fine"));
        assert!(error("9999999999h").contains("too long"));
        assert!(error("1.2.3s").contains("write it like"));
    }

    proptest! {
        #[test]
        fn a_span_survives_the_way_through_its_text(ns in 0..YEAR.as_nanos() as u64, leases in 0..MILLION * MILLION) {
            for span in [Span::Fixed(Duration::from_nanos(ns)), Span::Leases { millionths: leases }] {
                prop_assert_eq!(span.to_string().parse(), Ok(span));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Span>();
        }
    }
}
