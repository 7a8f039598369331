//! Notes when a search finds its first violation.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_campaign::campaign::{Judged, Observer};

/// Notes when the first violation is found, and passes everything on.
pub(super) struct Watch<'a> {
    invariant: &'a str,
    next: &'a dyn Observer,
    #[expect(
        clippy::disallowed_types,
        reason = "how long a search takes is time of the machine; no run reads it"
    )]
    began: std::time::Instant,
    first: Mutex<Option<Duration>>,
}

impl<'a> Watch<'a> {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "how long a search takes is time of the machine; no run reads it"
    )]
    pub(super) fn new(invariant: &'a str, next: &'a dyn Observer) -> Watch<'a> {
        Watch { invariant, next, began: std::time::Instant::now(), first: Mutex::new(None) }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// One more run is made, and violates these.
    pub(super) fn made_a_run(&self, violated: &[String]) {
        if violated.iter().any(|name| name == self.invariant) {
            self.note();
        }
        self.next.ran(1);
    }

    fn note(&self) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| self.began.elapsed());
    }

    pub(super) fn first(&self) -> Duration {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(|| self.elapsed())
    }
}

impl Observer for Watch<'_> {
    fn ran(&self, runs: u64) {
        self.next.ran(runs);
    }

    fn judged(&self, judged: &Judged<'_>) {
        if judged.run.violates(self.invariant) {
            self.note();
        }
        self.next.judged(judged);
    }

    fn reporting(&self, violations: u64) {
        self.next.reporting(violations);
    }

    fn reported(&self) {
        self.next.reported();
    }
}
