//! Instants as Kubernetes writes them: RFC 3339 in UTC, with microseconds (MicroTime) or whole seconds (Time).
//!
//! *Source:* `k8s.io/apimachinery/pkg/apis/meta/v1/micro_time.go`; days from a civil date: H. Hinnant, chrono-compatible low-level date algorithms.

use picklock_model::time::WallTime;

/// An instant with microseconds.
#[must_use]
pub fn micro_time(at: WallTime) -> String {
    let micros = at.as_nanos() / 1_000;
    format!("{}.{:06}Z", seconds(micros / 1_000_000), micros % 1_000_000)
}

/// An instant of whole seconds.
#[must_use]
pub fn time(at: WallTime) -> String {
    format!("{}Z", seconds(at.as_nanos() / 1_000_000_000))
}

/// The date and the time of day, so many seconds after 1970 began.
fn seconds(since: u64) -> String {
    let (days, second) = (since / 86_400, since % 86_400);
    // Years begin in March here, so that a leap day is the last one.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_the_calendar() {
        let at = |seconds: u64, nanos: u64| WallTime(seconds * 1_000_000_000 + nanos);
        assert_eq!(micro_time(at(0, 0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(micro_time(at(951_782_400, 1_999)), "2000-02-29T00:00:00.000001Z");
        assert_eq!(micro_time(at(1_740_823_512, 345_678_000)), "2025-03-01T10:05:12.345678Z");
        assert_eq!(time(at(4_107_542_399, 999_999_999)), "2100-02-28T23:59:59Z");
        assert_eq!(time(at(4_107_542_400, 0)), "2100-03-01T00:00:00Z");
    }
}
