//! Points and spans of time: how they are written and read as text.
//!
//! A point is counted in microseconds since 2000-01-01T00:00:00Z. The only time zone is UTC.
//!
//! Source: PostgreSQL 15, `utils/adt/datetime.c` and `timestamp.c`, of whose many forms those are read that drivers and lock
//! libraries write: ISO 8601 points, and spans such as `1500 milliseconds`, `1 day 02:00:00` and `PT1.5S`.

use std::cmp::Ordering;

/// Microseconds of a second, and of a day.
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A span of time: its parts stay apart, because a month has no fixed length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) months: i32,
    pub(crate) days: i32,
    pub(crate) micros: i64,
}

impl Interval {
    /// The length by which spans are compared: a month has 30 days of 24 hours.
    fn length(self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    /// The span between two points: whole days, and the rest.
    pub(crate) fn between(later: i64, earlier: i64) -> Option<Interval> {
        let span = later.checked_sub(earlier)?;
        Some(Interval { months: 0, days: i32::try_from(span / DAY).ok()?, micros: span % DAY })
    }

    pub(crate) fn negated(self) -> Option<Interval> {
        let (months, days) = (self.months.checked_neg()?, self.days.checked_neg()?);
        Some(Interval { months, days, micros: self.micros.checked_neg()? })
    }

    pub(crate) fn plus(self, other: Interval) -> Option<Interval> {
        let months = self.months.checked_add(other.months)?;
        let days = self.days.checked_add(other.days)?;
        Some(Interval { months, days, micros: self.micros.checked_add(other.micros)? })
    }

    pub(crate) fn times(self, factor: i64) -> Option<Interval> {
        let times = |part: i32| i32::try_from(i64::from(part).checked_mul(factor)?).ok();
        let (months, days) = (times(self.months)?, times(self.days)?);
        Some(Interval { months, days, micros: self.micros.checked_mul(factor)? })
    }

    /// The point that lies so much later; the day of the month is the last one where the month is shorter.
    pub(crate) fn after(self, point: i64) -> Option<i64> {
        let mut point = point;
        if self.months != 0 {
            let (days, of_day) = (point.div_euclid(DAY), point.rem_euclid(DAY));
            let (year, month, day) = civil(days);
            let months = year.checked_mul(12)?.checked_add(month - 1)?.checked_add(i64::from(self.months))?;
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            let day = day.min(month_length(year, month));
            point = days_of(year, month, day).checked_mul(DAY)?.checked_add(of_day)?;
        }
        point.checked_add(i64::from(self.days).checked_mul(DAY)?)?.checked_add(self.micros)
    }

    /// The span as `IntervalStyle = postgres` shows it.
    pub(crate) fn text(self) -> String {
        let mut parts = Vec::new();
        let mut negative = false;
        for (count, unit) in [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")] {
            if count != 0 {
                let sign = if negative && count > 0 { "+" } else { "" };
                let plural = if count == 1 { "" } else { "s" };
                parts.push(format!("{sign}{count} {unit}{plural}"));
                negative = count < 0;
            }
        }
        if self.micros != 0 || parts.is_empty() {
            let sign = match self.micros {
                ..0 => "-",
                _ if negative => "+",
                _ => "",
            };
            parts.push(format!("{sign}{}", clock_text(self.micros.unsigned_abs())));
        }
        parts.join(" ")
    }

    /// Reads a span; none if it is written in no form that is known.
    pub(crate) fn read(text: &str) -> Option<Interval> {
        let text = text.trim();
        if let Some(iso) = text.strip_prefix('P') {
            return read_iso(iso);
        }
        let mut span = Interval::default();
        let mut words = text.split_ascii_whitespace().peekable();
        words.peek()?;
        while let Some(word) = words.next() {
            if word.contains(':') {
                span.micros = span.micros.checked_add(read_clock(word)?)?;
                continue;
            }
            let len = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
            let (number, unit) = word.split_at(len);
            let unit = match unit {
                // A number alone is of seconds.
                "" => words.next().unwrap_or("second"),
                unit => unit,
            };
            if unit == "ago" {
                return None;
            }
            span = span.plus(counted(number, unit)?)?;
        }
        Some(span)
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Interval) -> bool {
        self.length() == other.length()
    }
}

impl Eq for Interval {}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Interval) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Interval {
    fn cmp(&self, other: &Interval) -> Ordering {
        self.length().cmp(&other.length())
    }
}

/// So many of a unit.
fn counted(number: &str, unit: &str) -> Option<Interval> {
    let micros = |factor| Some(Interval { micros: scaled(number, factor)?, ..Interval::default() });
    let days = |factor: i32| {
        let days = number.parse::<i32>().ok()?.checked_mul(factor)?;
        Some(Interval { days, ..Interval::default() })
    };
    let months = |factor: i32| {
        let months = number.parse::<i32>().ok()?.checked_mul(factor)?;
        Some(Interval { months, ..Interval::default() })
    };
    match unit.to_ascii_lowercase().as_str() {
        "microsecond" | "microseconds" | "us" | "usec" | "usecs" => micros(1),
        "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" => micros(1_000),
        "second" | "seconds" | "sec" | "secs" | "s" => micros(SECOND),
        "minute" | "minutes" | "min" | "mins" | "m" => micros(60 * SECOND),
        "hour" | "hours" | "hr" | "hrs" | "h" => micros(3_600 * SECOND),
        "day" | "days" | "d" => days(1),
        "week" | "weeks" | "w" => days(7),
        "month" | "months" | "mon" | "mons" => months(1),
        "year" | "years" | "yr" | "yrs" | "y" => months(12),
        _ => None,
    }
}

/// A decimal number times `factor`, which is the number of microseconds of a unit.
fn scaled(number: &str, factor: i64) -> Option<i64> {
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
fn read_clock(text: &str) -> Option<i64> {
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

/// A span after ISO 8601, without its `P`.
fn read_iso(text: &str) -> Option<Interval> {
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    let mut span = Interval::default();
    for (part, units) in [
        (date, [('Y', "year"), ('M', "month"), ('D', "day")]),
        (time, [('H', "h"), ('M', "min"), ('S', "s")]),
    ] {
        let mut rest = part;
        while !rest.is_empty() {
            let at = rest.find(|c: char| c.is_ascii_uppercase())?;
            let unit = rest[at..].chars().next()?;
            let (_, name) = units.iter().find(|(letter, _)| *letter == unit)?;
            span = span.plus(counted(&rest[..at], name)?)?;
            rest = &rest[at + 1..];
        }
    }
    (!text.is_empty()).then_some(span)
}

/// Seconds from 1970 to 2000.
const CENTURY_S: i64 = 946_684_800;

/// The days from 1970 to 2000.
const CENTURY_DAYS: i64 = CENTURY_S / 86_400;

/// The microseconds since 2000 of nanoseconds since 1970.
pub(crate) fn timestamp(wall_ns: u64) -> i64 {
    i64::try_from(wall_ns / 1_000).unwrap_or(i64::MAX) - CENTURY_S * SECOND
}

/// A point as `ISO, MDY` shows it, its fraction without trailing zeros and without a time zone.
pub(crate) fn point_text(micros: i64) -> String {
    let (year, month, day) = civil(micros.div_euclid(DAY));
    let clock = clock_text(micros.rem_euclid(DAY).unsigned_abs());
    if year > 0 {
        format!("{year:04}-{month:02}-{day:02} {clock}")
    } else {
        format!("{:04}-{month:02}-{day:02} {clock} BC", 1 - year)
    }
}

fn clock_text(micros: u64) -> String {
    let (secs, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let fraction = match fraction {
        0 => String::new(),
        fraction => format!(".{fraction:06}").trim_end_matches('0').to_owned(),
    };
    format!("{:02}:{:02}:{:02}{fraction}", secs / 3_600, secs / 60 % 60, secs % 60)
}

/// Reads a point: the microseconds as they are written, and how many the time zone is ahead, if one is given.
pub(crate) fn read_point(text: &str) -> Option<(i64, Option<i64>)> {
    let text = text.trim();
    let (date, rest) = match text.find(['T', ' ']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 {
        return None;
    }
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    if !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
        return None;
    }
    let zone_at = rest.find(['+', '-', 'Z', 'z', 'U', ' ']).unwrap_or(rest.len());
    let (clock, zone) = (&rest[..zone_at], rest[zone_at..].trim());
    let clock = if clock.is_empty() { 0 } else { read_clock(clock)? };
    let zone = match zone {
        "" => None,
        "Z" | "z" | "UTC" => Some(0),
        offset => {
            let offset = if offset.contains(':') { offset.to_owned() } else { format!("{offset}:00") };
            Some(read_clock(&offset)?)
        }
    };
    Some((days_of(year, month, day).checked_mul(DAY)?.checked_add(clock)?, zone))
}

/// Year, month and day of a day since 2000.
///
/// Howard Hinnant, "chrono-compatible low-level date algorithms": `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + CENTURY_DAYS + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The day since 2000 of a date: `days_from_civil` of the same source.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468 - CENTURY_DAYS
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_reads_as_postgres_shows_it() {
        assert_eq!(point_text(0), "2000-01-01 00:00:00");
        assert_eq!(point_text(timestamp(1_582_934_400_250_000_000)), "2020-02-29 00:00:00.25");
        assert_eq!(point_text(-1), "1999-12-31 23:59:59.999999");
    }

    #[test]
    fn a_point_is_read_as_it_is_shown() {
        for micros in [0, -1, 1, 636_163_200_250_000, -86_400_000_001] {
            assert_eq!(read_point(&point_text(micros)), Some((micros, None)));
        }
        assert_eq!(read_point("2000-01-01T02:00:00Z"), Some((7_200_000_000, Some(0))));
        assert_eq!(read_point("2000-01-01 02:00:00.5+02"), Some((7_200_500_000, Some(7_200_000_000))));
        for wrong in ["", "soon", "2001-02-29", "2000-13-01", "2000-01-01 25", "20-01-01"] {
            assert_eq!(read_point(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_span_is_read_in_each_form_and_shown_in_one() {
        for (written, shown) in [
            ("1500 milliseconds", "00:00:01.5"),
            ("10", "00:00:10"),
            ("1 day 02:00:00", "1 day 02:00:00"),
            ("-1 day +02:03", "-1 days +02:03:00"),
            ("PT1.5S", "00:00:01.5"),
            ("P1DT2H", "1 day 02:00:00"),
            ("14 months", "1 year 2 mons"),
            ("36 hours", "36:00:00"),
            ("-5 s", "-00:00:05"),
        ] {
            assert_eq!(Interval::read(written).map(Interval::text).as_deref(), Some(shown), "{written}");
        }
        assert!(Interval::read("a while").is_none());
        assert_eq!(Interval::read("1 day"), Interval::read("24:00"));
    }

    #[test]
    fn a_month_is_added_by_the_calendar() {
        let month = Interval { months: 1, ..Interval::default() };
        for (from, to) in [
            ("2020-01-31 12:00:00", "2020-02-29 12:00:00"),
            ("2019-01-31 12:00:00", "2019-02-28 12:00:00"),
            ("2019-03-31 12:00:00", "2019-04-30 12:00:00"),
        ] {
            let (point, _) = read_point(from).unwrap();
            assert_eq!(month.after(point).map(point_text).as_deref(), Some(to));
        }
    }
}
