//! The writing of numbers: shares, bounds, spans and counted nouns.

use std::time::Duration;

/// A share as per cent with one decimal: `96.5%`. A rare event is not rounded to none, nor a frequent one to always.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 || percent >= 100.0 {
        return format!("{percent:.0}%");
    }
    if percent < 0.1 {
        let (rounded, decimals) = two_digits(percent, f64::round);
        return format!("{rounded:.decimals$}%");
    }
    if percent >= 99.95 { ">99.9%".to_owned() } else { format!("{percent:.1}%") }
}

/// A small bound as per cent with two significant digits, rounded up so that it stays a bound: `0.15%`.
pub(crate) fn percent_up(share: f64) -> String {
    // The slack keeps a bound that is a round number but for the last bit of a float from being rounded up.
    let (rounded, decimals) = two_digits(share * 100.0, |scaled| (scaled - 1e-9).ceil());
    format!("{rounded:.decimals$}%")
}

/// The number rounded to two significant digits, and how many decimals show them.
fn two_digits(number: f64, round: fn(f64) -> f64) -> (f64, usize) {
    let (mut decimals, mut scale) = (0, 1.0);
    while number * scale < 10.0 && decimals < 12 {
        decimals += 1;
        scale *= 10.0;
    }
    (round(number * scale) / scale, decimals)
}

/// A span with three significant digits in the unit that fits it: `12.5ms`.
pub(crate) fn span(span: Duration) -> String {
    let ns = span.as_nanos();
    let (unit, name) = match ns {
        0..1_000 => return format!("{ns}ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns as f64 / unit;
    let decimals = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.decimals$}{name}")
}

/// "1 run", "2 runs": the noun alone.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_event_is_not_rounded_to_none_and_a_frequent_one_not_to_always() {
        assert_eq!(percent(0.0), "0%");
        assert_eq!(percent(1.0 / 30_000.0), "0.0033%");
        assert_eq!(percent(0.965), "96.5%");
        assert_eq!(percent(0.9999), ">99.9%");
        assert_eq!(percent(1.0), "100%");
    }

    #[test]
    fn spans_are_written_with_three_digits() {
        assert_eq!(span(Duration::from_nanos(999)), "999ns");
        assert_eq!(span(Duration::from_micros(12)), "12.0µs");
        assert_eq!(span(Duration::from_millis(1_204)), "1.20s");
        assert_eq!(span(Duration::from_millis(250)), "250ms");
    }
}
