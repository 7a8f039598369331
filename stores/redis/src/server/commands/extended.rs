//! Numbers of 80 bits, as INCRBYFLOAT and HINCRBYFLOAT count with on x86-64 (C's `long double`).
//!
//! A mantissa of 64 bits shows in the digits: 10.5 + 0.1 is 10.6 here, and 10.59999999999999964 with 64-bit numbers.
//! Numbers smaller than the smallest normal one become zero.

use std::cmp::Ordering;

/// A number: the mantissa times two to the power of the exponent. The mantissa's highest bit is set, or it is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extended {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

/// The greatest exponent of a finite number, for a mantissa that is an integer.
const EXPONENT_MAX: i32 = 16383 - 63;
/// The least exponent of a normal number.
const EXPONENT_MIN: i32 = -16382 - 63;
/// A text longer than this is no number.
const TEXT_MAX: usize = 5 * 1024 - 1;
/// How many decimals Redis prints.
const DECIMALS: usize = 17;

impl Extended {
    pub(crate) const ZERO: Extended = Extended { negative: false, mantissa: 0, exponent: 0 };

    /// Reads a number as C's `strtold` does. `None` for what is no finite number.
    pub(crate) fn parse(text: &[u8]) -> Option<Extended> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        if let [b'0', b'x' | b'X', digits @ ..] = text {
            return Extended::hexadecimal(digits).map(|number| Extended { negative, ..number });
        }
        let split = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')).unwrap_or(text.len());
        let (digits, power) = text.split_at(split);
        let mut power = match power {
            [] => 0,
            [_, power @ ..] => std::str::from_utf8(power).ok()?.parse::<i32>().ok()?,
        };
        let mut integer = Big::default();
        let (mut any, mut point) = (false, false);
        for byte in digits {
            match byte {
                b'.' if !point => point = true,
                b'0'..=b'9' => {
                    any = true;
                    integer.multiply_add(10, u32::from(byte - b'0'));
                    power = power.checked_sub(i32::from(point))?;
                }
                _ => return None,
            }
        }
        if !any {
            return None;
        }
        if integer.is_zero() {
            return Some(Extended { negative, ..Extended::ZERO });
        }
        // Outside of these powers no number of so many digits is finite and not too small.
        if !(-11_000..=11_000).contains(&power) {
            return None;
        }
        let mut scale = Big::from(1);
        for _ in 0..power.abs() {
            if power > 0 { integer.multiply_add(10, 0) } else { scale.multiply_add(10, 0) }
        }
        let (mantissa, exponent) = quotient(integer, scale);
        Extended::finite(mantissa, exponent).map(|number| Extended { negative, ..number })
    }

    /// The number, if it is in bounds. What is a little too small becomes zero, what is smaller still is an error.
    fn finite(mantissa: u64, exponent: i32) -> Option<Extended> {
        match exponent {
            EXPONENT_MIN..=EXPONENT_MAX => Some(Extended { negative: false, mantissa, exponent }),
            exponent if (EXPONENT_MIN - 64..EXPONENT_MIN).contains(&exponent) => Some(Extended::ZERO),
            _ => None,
        }
    }

    fn hexadecimal(text: &[u8]) -> Option<Extended> {
        let split = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'p')).unwrap_or(text.len());
        let (digits, power) = text.split_at(split);
        let mut power = match power {
            [] => 0,
            [_, power @ ..] => std::str::from_utf8(power).ok()?.parse::<i32>().ok()?,
        };
        let mut integer = Big::default();
        let (mut any, mut point) = (false, false);
        for byte in digits {
            if *byte == b'.' && !point {
                point = true;
                continue;
            }
            any = true;
            integer.multiply_add(16, char::from(*byte).to_digit(16)?);
            power = power.checked_sub(if point { 4 } else { 0 })?;
        }
        if !any || integer.is_zero() {
            return any.then_some(Extended::ZERO);
        }
        let (mantissa, exponent) = quotient(integer, Big::from(1));
        Extended::finite(mantissa, exponent.checked_add(power)?)
    }

    /// The sum; `None` if it is not finite.
    pub(crate) fn plus(self, other: Extended) -> Option<Extended> {
        if self.mantissa == 0 || other.mantissa == 0 {
            return Some(if self.mantissa == 0 { other } else { self });
        }
        let order = (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa));
        let (large, small) = if order == Ordering::Less { (other, self) } else { (self, other) };
        // Both with 63 more bits below the mantissa; what the smaller one loses below those only matters by being there.
        let apart = (large.exponent - small.exponent).unsigned_abs();
        let wide = u128::from(large.mantissa) << 62;
        let shifted = u128::from(small.mantissa) << 62;
        let lost = apart >= 127 || shifted & ((1 << apart) - 1) != 0;
        let shifted = if apart >= 127 { 0 } else { shifted >> apart };
        let sum = if large.negative == small.negative {
            (wide + shifted) | u128::from(lost)
        } else {
            (wide - shifted - u128::from(lost)) | u128::from(lost)
        };
        if sum == 0 {
            return Some(Extended::ZERO);
        }
        let (mantissa, exponent) = rounded(sum, large.exponent - 62, false);
        (exponent <= EXPONENT_MAX).then_some(Extended { negative: large.negative, mantissa, exponent })
    }

    /// The number with at most 17 decimals, without zeros at their end.
    pub(crate) fn text(self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let text = if self.exponent >= 0 {
            let mut whole = Big::from(self.mantissa);
            whole.shift_left(self.exponent.unsigned_abs());
            whole.decimal()
        } else {
            // No more than 64 + 57 bits.
            let scaled = u128::from(self.mantissa) * 10_u128.pow(17);
            let shift = self.exponent.unsigned_abs();
            let units = if shift > 127 { 0 } else { halved(scaled, shift) };
            let digits = format!("{units:018}");
            let (whole, decimals) = digits.split_at(digits.len() - DECIMALS);
            format!("{whole}.{decimals}").trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if text == "0" { text } else { format!("{sign}{text}") }
    }
}

/// Divides by a power of two, rounding to the nearest, ties to even.
fn halved(number: u128, shift: u32) -> u128 {
    if shift == 0 {
        return number;
    }
    let (whole, rest) = (number >> shift, number & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    whole + u128::from(rest > half || rest == half && whole & 1 == 1)
}

/// The 64 highest bits of a number that is not zero, and the exponent that goes with them. `more` says that the number
/// is a little greater than its bits say.
fn rounded(number: u128, exponent: i32, more: bool) -> (u64, i32) {
    let bits = 128 - number.leading_zeros();
    let Some(shift) = bits.checked_sub(64).filter(|shift| *shift > 0) else {
        return ((number << (64 - bits)) as u64, exponent - (64 - bits).cast_signed());
    };
    // A bit below those that are kept stands for the rest.
    let mantissa = halved(number << 1 | u128::from(more), shift + 1);
    let exponent = exponent + shift.cast_signed();
    // Rounding up may have carried out of the mantissa.
    if mantissa >> 64 == 1 { (1 << 63, exponent + 1) } else { (mantissa as u64, exponent) }
}

/// The quotient of two numbers that are not zero, to 64 bits.
fn quotient(mut numerator: Big, mut denominator: Big) -> (u64, i32) {
    // Bring the quotient between 2^66 and 2^68.
    let shift = 67 - (numerator.bits() - denominator.bits());
    if shift > 0 {
        numerator.shift_left(shift.unsigned_abs())
    } else {
        denominator.shift_left(shift.unsigned_abs())
    }
    let mut bits: u128 = 0;
    denominator.shift_left(68);
    for _ in 0..=68 {
        bits <<= 1;
        if numerator.compare(&denominator) != Ordering::Less {
            numerator.subtract(&denominator);
            bits |= 1;
        }
        numerator.shift_left(1);
    }
    rounded(bits, -shift, !numerator.is_zero())
}

/// A natural number of any size, its lowest limb first, without zeros at the top.
#[derive(Clone, Debug, Default)]
struct Big(Vec<u32>);

impl From<u64> for Big {
    fn from(number: u64) -> Big {
        let mut big = Big(vec![number as u32, (number >> 32) as u32]);
        big.trim();
        big
    }
}

impl Big {
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> i32 {
        let top = self.0.last().map_or(0, |limb| 32 - limb.leading_zeros());
        i32::try_from(self.0.len().saturating_sub(1) * 32).unwrap_or(i32::MAX) + top.cast_signed()
    }

    fn multiply_add(&mut self, by: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(by);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn shift_left(&mut self, by: u32) {
        for _ in 0..by % 32 {
            self.multiply_add(2, 0);
        }
        if !self.is_zero() {
            let zeros = usize::try_from(by / 32).unwrap_or(0);
            self.0.splice(0..0, std::iter::repeat_n(0, zeros));
        }
    }

    fn compare(&self, other: &Big) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes away a number that is not greater.
    fn subtract(&mut self, other: &Big) {
        let mut borrow = 0;
        for (at, limb) in self.0.iter_mut().enumerate() {
            let less = i64::from(*limb) - i64::from(other.0.get(at).copied().unwrap_or(0)) - borrow;
            *limb = less as u32;
            borrow = i64::from(less < 0);
        }
        self.trim();
    }

    fn decimal(mut self) -> String {
        let mut groups = Vec::new();
        while !self.is_zero() {
            let mut rest = 0;
            for limb in self.0.iter_mut().rev() {
                let part = rest << 32 | u64::from(*limb);
                *limb = (part / 1_000_000_000) as u32;
                rest = part % 1_000_000_000;
            }
            groups.push(rest);
            self.trim();
        }
        let mut text = groups.pop().unwrap_or(0).to_string();
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:09}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &str, b: &str) -> String {
        let number = |text: &str| Extended::parse(text.as_bytes()).unwrap();
        number(a).plus(number(b)).unwrap().text()
    }

    #[test]
    fn sums_have_the_digits_that_redis_gives() {
        assert_eq!(sum("10.5", "0.1"), "10.6");
        assert_eq!(sum("5.0e3", "2.0e2"), "5200");
        assert_eq!(sum("3", "-3"), "0");
        assert_eq!(sum("-1.5", "0.25"), "-1.25");
        assert_eq!(sum("1e18", "0.5"), "1000000000000000000.5");
        assert_eq!(sum("1e40", "1"), "9999999999999999999783686092270256259072");
        assert_eq!(sum("5000.1", "0.2"), "5000.30000000000000027");
        assert_eq!(sum("0.1", "0.2"), "0.3");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", ".", "1e", "e5", "1.2.3", "abc", " 1", "1 ", "inf", "nan", "1e5000"] {
            assert_eq!(Extended::parse(text.as_bytes()), None, "{text}");
        }
    }
}
