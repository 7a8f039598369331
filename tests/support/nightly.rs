//! The effort of a test: enough to see that it works, or what a night has time for.

/// The first by day, and the second where the variable `PICKLOCK_NIGHTLY` is set, as `.ci/nightly` does.
pub(crate) fn by_day_or_night<T>(day: T, night: T) -> T {
    if std::env::var_os("PICKLOCK_NIGHTLY").is_some() { night } else { day }
}
