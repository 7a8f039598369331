//! Points of time: how they are written and read as text.
//!
//! A point is counted in microseconds since 2000-01-01T00:00:00Z. The only time zone is UTC.
//!
//! Source: PostgreSQL 15, `utils/adt/datetime.c` and `timestamp.c`, of whose many forms those of ISO 8601 are read.

use super::clock::{DAY, SECOND, clock_text, read_clock};

/// Seconds from 1970 to 2000.
pub(crate) const EPOCH_S: i64 = 946_684_800;

/// The days from 1970 to 2000.
const CENTURY_DAYS: i64 = EPOCH_S / 86_400;

/// The microseconds since 2000 of nanoseconds since 1970.
pub(crate) fn timestamp(wall_ns: u64) -> i64 {
    i64::try_from(wall_ns / 1_000).unwrap_or(i64::MAX) - EPOCH_S * SECOND
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

/// Reads a point: the microseconds as they are written, and how many the time zone is ahead, if one is given.
pub(crate) fn read_point(text: &str) -> Option<(i64, Option<i64>)> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("epoch") {
        return Some((-EPOCH_S * SECOND, Some(0)));
    }
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
            // Hours, or hours and minutes with a colon or without.
            let offset = match offset.split_at_checked(3) {
                Some((hours, minutes)) if offset.len() == 5 => format!("{hours}:{minutes}"),
                _ if offset.contains(':') => offset.to_owned(),
                _ => format!("{offset}:00"),
            };
            Some(read_clock(&offset)?)
        }
    };
    Some((days_of(year, month, day).checked_mul(DAY)?.checked_add(clock)?, zone))
}

/// Year, month and day of a day since 2000.
///
/// Howard Hinnant, "chrono-compatible low-level date algorithms": `civil_from_days`.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
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
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468 - CENTURY_DAYS
}

pub(super) fn month_length(year: i64, month: i64) -> i64 {
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
}
