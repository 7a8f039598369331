//! Numbers with a fraction as Redis 7.0 writes them: C's `%.17g`.

/// Formats a number as C's `%.17g` does.
#[must_use]
pub fn text(number: f64) -> String {
    if !number.is_finite() {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
    }
    if number.fract() == 0.0 && number.abs() < 1e17 {
        // A zero may have a sign.
        let is_minus_zero = number == 0.0 && number.is_sign_negative();
        return if is_minus_zero { "-0".to_owned() } else { (number as i64).to_string() };
    }
    let scientific = format!("{number:.16e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..17).contains(&exponent) {
        let decimals = usize::try_from(16 - exponent).unwrap_or(0);
        return strip(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(digits), exponent.abs())
}
