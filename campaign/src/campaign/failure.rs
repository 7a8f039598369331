//! The failure of a campaign: that of the earliest run that fails, however many threads make the runs.

use std::sync::{Mutex, PoisonError};

/// Where a run stands in the order in which runs are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) block: u64,
    pub(super) seed: u64,
    pub(super) cell: usize,
}

/// The earliest failure so far.
pub(super) struct Failure<Error>(Mutex<Option<(Place, Error)>>);

impl<Error> Failure<Error> {
    pub(super) fn none() -> Failure<Error> {
        Failure(Mutex::new(None))
    }

    /// Notes a failure at a place, unless an earlier one is known.
    pub(super) fn add(&self, at: Place, error: Error) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(place, _)| at < *place) {
            *first = Some((at, error));
        }
    }

    /// True if a run that is earlier than this place has failed. Runs before the failure are still made: one of them may fail
    /// too.
    pub(super) fn is_before(&self, at: Place) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|(place, _)| *place < at)
    }

    /// True if any run has failed.
    pub(super) fn is_any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(super) fn into_result<T>(self, value: T) -> Result<T, Error> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(value), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_failure_is_kept_and_runs_before_it_are_still_made() {
        let at = |seed| Place { seed, ..Place::default() };
        let failure = Failure::none();
        failure.add(at(7), "late");
        assert!(failure.is_any() && !failure.is_before(at(5)) && failure.is_before(at(8)));
        failure.add(at(5), "early");
        failure.add(at(6), "between");
        assert!(failure.is_before(at(6)));
        assert_eq!(failure.into_result(()), Err("early"));
    }
}
