//! Numbers of `double precision`: their order, and how they are written and read.
//!
//! Source: PostgreSQL 15, `utils/adt/float.c` and `common/d2s.c`: the fewest digits that give the number again, with an exponent below -4 and
//! from 15 on.

use std::cmp::Ordering;

/// A number. Not-a-number is equal to itself and greater than all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Float(pub(crate) f64);

impl Float {
    pub(super) fn read(text: &str) -> Option<Float> {
        let word = text.trim();
        match word.to_ascii_lowercase().as_str() {
            "nan" => return Some(Float(f64::NAN)),
            "infinity" | "+infinity" | "inf" | "+inf" => return Some(Float(f64::INFINITY)),
            "-infinity" | "-inf" => return Some(Float(f64::NEG_INFINITY)),
            _ => {}
        }
        let is_part = |c: char| c.is_ascii_digit() || ['+', '-', '.', 'e', 'E'].contains(&c);
        if !word.chars().all(is_part) {
            return None;
        }
        word.parse().ok().map(Float)
    }

    pub(crate) fn text(self) -> String {
        let number = self.0;
        if number.is_nan() {
            return "NaN".to_owned();
        }
        if number.is_infinite() {
            return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
        }
        let shown = format!("{number:e}");
        let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        match exponent.parse::<i32>() {
            Ok(exponent) if number != 0.0 && !(-4..15).contains(&exponent) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
            }
            _ => format!("{number}"),
        }
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Float) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Float) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or_else(|| self.0.is_nan().cmp(&other.0.is_nan()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_with_the_fewest_digits() {
        for (number, shown) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (100_000_000_000_000.0, "100000000000000"),
            (1e15, "1e+15"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (-1.25e300, "-1.25e+300"),
        ] {
            assert_eq!(Float(number).text(), shown);
            assert_eq!(Float::read(shown), Some(Float(number)));
        }
        assert_eq!(Float::read("x"), None);
        assert!(Float(f64::NAN) > Float(f64::INFINITY) && Float(f64::NAN) == Float(f64::NAN));
    }
}
