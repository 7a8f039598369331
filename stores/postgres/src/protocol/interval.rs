//! Spans of time: how they are counted, written and read.
//!
//! Source: PostgreSQL 15, `utils/adt/datetime.c` and `timestamp.c`, of whose many forms those are read that drivers and lock
//! libraries write: `1500 milliseconds`, `1 day 02:00:00` and `PT1.5S`.

use std::cmp::Ordering;

use super::clock::{DAY, SECOND, clock_text, read_clock, scaled};
use super::time::{civil, days_of, month_length};

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

    /// The span times a number that is not whole: what is left of a month becomes days of it, what is left of a day seconds.
    pub(crate) fn scaled(self, factor: f64) -> Option<Interval> {
        let whole = |number: f64| (number.abs() < f64::from(i32::MAX)).then_some(number.trunc());
        let rounded = |seconds: f64| (seconds * 1e6).round_ties_even() / 1e6;
        let (months, days) = (f64::from(self.months) * factor, f64::from(self.days) * factor);
        let rest_days = rounded((months - whole(months)?) * 30.0);
        let rest_secs = rounded((days - whole(days)? + rest_days - whole(rest_days)?) * 86_400.0);
        let (more_days, secs) = ((rest_secs / 86_400.0).trunc(), rest_secs % 86_400.0);
        let micros = (self.micros as f64 * factor + secs * 1e6).round_ties_even();
        let in_range = micros.abs() < i64::MAX as f64;
        let days = whole(whole(days)? + whole(rest_days)? + more_days)?;
        in_range.then_some(Interval {
            months: whole(months)? as i32,
            days: days as i32,
            micros: micros as i64,
        })
    }

    /// A span of so many seconds.
    pub(crate) fn of_seconds(seconds: f64) -> Option<Interval> {
        Interval { micros: SECOND, ..Interval::default() }.scaled(seconds)
    }

    /// The microseconds that EXTRACT(EPOCH) counts: a year has 365.25 days, a month more 30.
    pub(crate) fn epoch(self) -> Option<i64> {
        let years = i64::from(self.months / 12).checked_mul(31_557_600 * SECOND)?;
        let days = i64::from(self.months % 12) * 30 + i64::from(self.days);
        years.checked_add(days.checked_mul(DAY)?)?.checked_add(self.micros)
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

#[cfg(test)]
mod tests {
    use super::super::time::{point_text, read_point};
    use super::*;

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

    #[test]
    fn a_part_of_a_span_is_spread_downwards() {
        let read = |text| Interval::read(text).unwrap();
        for (span, factor, shown) in [
            ("1 s", 1.5, "00:00:01.5"),
            ("1 month", 1.5, "1 mon 15 days"),
            ("1 day", 0.5, "12:00:00"),
            ("7 days", 2.5, "17 days 12:00:00"),
        ] {
            assert_eq!(read(span).scaled(factor).map(Interval::text).as_deref(), Some(shown));
        }
        assert_eq!(read("1 week").epoch(), Some(604_800_000_000));
        assert!(read("1 year").scaled(1e300).is_none());
    }
}
