//! Times of day, and numbers of seconds, as they are written in points and in spans.

/// Microseconds of a second, and of a day.
pub(super) const SECOND: i64 = 1_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;

/// A decimal number times `factor`, which is the number of microseconds of a unit.
pub(super) fn scaled(number: &str, factor: i64) -> Option<i64> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    let mut micros = whole.checked_mul(factor)?;
    if !fraction.is_empty() {
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        let part = fraction.parse::<i128>().ok()? * i128::from(factor);
        // Half a microsecond is rounded up.
        micros = micros.checked_add(i64::try_from((part * 2 + scale) / (scale * 2)).ok()?)?;
    }
    Some(if negative { -micros } else { micros })
}

/// `hours:minutes`, perhaps with seconds.
pub(super) fn read_clock(text: &str) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = text.split(':');
    let (hours, minutes) = (parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?);
    let seconds = parts.next().map_or(Some(0), |seconds| scaled(seconds, SECOND))?;
    if parts.next().is_some() || minutes > 59 || !(0..=60 * SECOND).contains(&seconds) {
        return None;
    }
    let micros = (i64::from(hours) * 3_600 + i64::from(minutes) * 60) * SECOND + seconds;
    Some(if negative { -micros } else { micros })
}

pub(super) fn clock_text(micros: u64) -> String {
    let (secs, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let fraction = match fraction {
        0 => String::new(),
        fraction => format!(".{fraction:06}").trim_end_matches('0').to_owned(),
    };
    format!("{:02}:{:02}:{:02}{fraction}", secs / 3_600, secs / 60 % 60, secs % 60)
}
