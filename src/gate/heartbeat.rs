//! A line on standard error every ten seconds while a gate runs, so that nobody thinks that it hangs.
//!
//! It goes past what captures the output of tests: a line that is shown when the test is over is of no use.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_campaign::campaign::{Failed, Judged, Observer};
use picklock_campaign::check::CheckError;
use picklock_sim::run::Panicked;

use super::panics::{self, Seen};

/// As often as `picklock run` prints one where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// How far a gate is, and the panics that were seen on its threads.
#[derive(Default)]
pub(super) struct Heartbeat {
    design: String,
    at: Mutex<String>,
    runs: AtomicU64,
    violating: AtomicU64,
    /// By scenario and seed.
    panics: Mutex<BTreeMap<(String, u64), Seen>>,
}

impl Heartbeat {
    /// The work from now on: `scenario `pause``.
    pub(super) fn at(&self, what: impl Into<String>) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    /// One more run is made.
    pub(super) fn ran(&self, violates: bool) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.violating.fetch_add(u64::from(violates), Ordering::Relaxed);
    }

    /// The panic that a run of a scenario ended in, as it was seen where it happened.
    pub(super) fn panic(&self, scenario: &str, error: &CheckError) -> Option<Seen> {
        let CheckError::Panicked(Panicked { seed, .. }) = error else { return None };
        self.panics.lock().unwrap_or_else(PoisonError::into_inner).remove(&(scenario.to_owned(), *seed))
    }

    fn line(&self, elapsed: Duration) -> String {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (runs, violating) = (self.runs.load(Ordering::Relaxed), self.violating.load(Ordering::Relaxed));
        format!(
            "picklock: `{}`, {at}: {runs} runs, {violating} with a violation, {}s",
            self.design,
            elapsed.as_secs()
        )
    }
}

impl Observer for Heartbeat {
    /// Runs are counted as they are judged.
    fn ran(&self, _: u64) {}

    fn judged(&self, judged: &Judged<'_>) {
        Heartbeat::ran(self, judged.run.violations().next().is_some());
    }

    fn failed(&self, failed: &Failed<'_>) {
        let CheckError::Panicked(Panicked { message, .. }) = failed.error else { return };
        let run = (failed.scenario.to_owned(), failed.seed.0);
        self.panics.lock().unwrap_or_else(PoisonError::into_inner).insert(run, panics::last(message));
    }

    fn reporting(&self, _: u64) {}

    fn reported(&self) {}
}

/// Does some work on this design and says every ten seconds how far it is.
pub(super) fn beating<T>(design: &str, work: impl FnOnce(&Heartbeat) -> T) -> T {
    // If standard error is closed, the line is lost and the runs go on.
    beating_every(EVERY, design, work, |line| _ = writeln!(std::io::stderr().lock(), "{line}"))
}

fn beating_every<T>(
    every: Duration,
    design: &str,
    work: impl FnOnce(&Heartbeat) -> T,
    say: impl Fn(&str) + Send,
) -> T {
    let heartbeat = Heartbeat { design: design.to_owned(), ..Heartbeat::default() };
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let heartbeat = &heartbeat;
        scope.spawn(move || {
            let mut elapsed = Duration::ZERO;
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                elapsed += every;
                say(&heartbeat.line(elapsed));
            }
        });
        // The other end is dropped when the work is over, or panics: then no more lines come.
        let _end = end;
        work(heartbeat)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_while_it_works_and_say_what_is_worked_on() {
        let (say, said) = mpsc::channel::<String>();
        let first = beating_every(
            Duration::from_millis(5),
            "mine",
            |heartbeat| {
                heartbeat.at("scenario `pause`");
                heartbeat.ran(true);
                heartbeat.ran(false);
                // A line of before may be under way.
                let mut lines = (0..1_000).map_while(|_| said.recv_timeout(Duration::from_secs(10)).ok());
                lines.find(|line| line.contains("2 runs"))
            },
            move |line| _ = say.send(line.to_owned()),
        );
        let line = first.unwrap_or_default();
        assert!(
            line.starts_with("picklock: `mine`, scenario `pause`: 2 runs, 1 with a violation, "),
            "{line}"
        );
        assert!(said.try_iter().count() < 1_000, "none comes when it is over");
    }
}
