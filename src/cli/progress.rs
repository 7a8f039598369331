//! How a campaign goes on: a bar on a terminal, a line now and then elsewhere; and what Ctrl-C does.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use picklock_campaign::campaign::{Campaign, Judged, Observer, RanOut};

use super::exit::{Exit, Failure};
use super::interrupt::on_signal;
use super::results_dir::{Live, Progress};

/// How often a line is printed where there is no terminal: often enough that nobody thinks that it hangs, and a log of an
/// hour stays readable.
const EVERY: Duration = Duration::from_secs(10);

/// Shows on standard error how a campaign goes on.
pub(crate) struct Bar {
    /// Hidden without a terminal; counts and knows the time all the same.
    bar: ProgressBar,
    /// Runs that violated something.
    violating: AtomicU64,
    /// True if the runs are over and violations are being reported.
    reporting: AtomicBool,
    /// When the next line is due; absent on a terminal.
    lines: Option<Mutex<Schedule>>,
    /// The page that shows it as well.
    page: Option<Live>,
    /// The work on each violation after the runs.
    work: &'static str,
}

/// The work on each violation after the runs of a campaign.
fn work(shrink: bool, confirm: bool) -> &'static str {
    match (shrink, confirm) {
        (true, true) => "reduced and confirmed",
        (true, false) => "reduced",
        (false, true) => "confirmed",
        (false, false) => "repeated for their stories",
    }
}

impl Bar {
    /// The bar of a campaign.
    pub(crate) fn of(campaign: &Campaign<'_>, page: Option<Live>) -> Bar {
        Bar { work: work(campaign.shrink, campaign.confirm), ..Bar::new(campaign.size(), page) }
    }

    pub(crate) fn new(runs: u64, page: Option<Live>) -> Bar {
        let terminal = io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        bar.set_style(style("{bar:30} {human_pos}/{human_len} runs, {rate}, {eta} left"));
        let lines = (!terminal).then(|| Mutex::new(Schedule::default()));
        Bar {
            bar,
            violating: AtomicU64::new(0),
            reporting: AtomicBool::new(false),
            lines,
            page,
            work: "reported",
        }
        .shown()
    }

    fn shown(self) -> Bar {
        self.show();
        self
    }

    /// One more of so many is done.
    pub(crate) fn one_of(&self, all: usize, violates: bool) {
        self.bar.set_length(all as u64);
        self.violating.fetch_add(u64::from(violates), Ordering::Relaxed);
        self.more(1);
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Has the page show how far it is, if it is time.
    fn show(&self) {
        let Some(page) = &self.page else { return };
        page.shows(&Progress {
            done: self.bar.position(),
            of: known(self.bar.length()),
            reporting: self.reporting.load(Ordering::Relaxed),
            violating: self.violating.load(Ordering::Relaxed),
            elapsed: self.bar.elapsed(),
        });
    }

    /// So many more are done. Prints a line if one is due.
    fn more(&self, count: u64) {
        self.bar.inc(count);
        self.show();
        let Some(due) = &self.lines else { return };
        let elapsed = self.bar.elapsed();
        if !due.lock().unwrap_or_else(PoisonError::into_inner).is_due(elapsed) {
            return;
        }
        let (done, of) = (self.bar.position(), self.bar.length());
        let line = if self.reporting.load(Ordering::Relaxed) {
            reporting_line(done, of.unwrap_or(done), self.work, elapsed)
        } else {
            runs_line(done, of, self.violating.load(Ordering::Relaxed), elapsed)
        };
        // If standard error is closed, the line is lost and the runs go on.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

/// When the next line is due.
#[derive(Debug, Default)]
struct Schedule {
    last: Duration,
}

impl Schedule {
    fn is_due(&mut self, elapsed: Duration) -> bool {
        let due = elapsed >= self.last + EVERY;
        if due {
            self.last = elapsed;
        }
        due
    }
}

/// A budget alone means as many runs as it has room for: then the total is no help.
fn known(of: Option<u64>) -> Option<u64> {
    of.filter(|of| *of < u64::from(u32::MAX))
}

fn runs_line(done: u64, of: Option<u64>, violating: u64, elapsed: Duration) -> String {
    let of = known(of).map(|of| format!(" of {of}")).unwrap_or_default();
    format!("{done}{of} runs, {violating} with a violation, {}s", elapsed.as_secs())
}

fn reporting_line(done: u64, of: u64, work: &str, elapsed: Duration) -> String {
    format!("{done} of {of} violations {work}, {}s", elapsed.as_secs())
}

fn ran_out_line(left: RanOut) -> String {
    let RanOut { all, unreduced, in_part } = left;
    format!(
        "the time for reducing and confirming is over: of {all} violations {unreduced} are reported as they were found, {in_part} are reduced or \
         confirmed in part; --shrink-budget TIME gives more time, --no-shrink takes none"
    )
}

/// Says what is being worked on; nothing unless standard error is a terminal.
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    pub(crate) fn new() -> Spinner {
        let bar = if io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(style("{spinner} {msg}"));
        bar.enable_steady_tick(Duration::from_millis(100));
        Spinner(bar)
    }

    pub(crate) fn says(&self, message: impl Into<Cow<'static, str>>) {
        self.0.set_message(message);
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    style.with_key("rate", |bar: &ProgressState, text: &mut dyn fmt::Write| {
        let _ = write!(text, "{:.0}/s", bar.per_sec());
    })
}

impl Observer for Bar {
    fn ran(&self, runs: u64) {
        self.more(runs);
    }

    fn judged(&self, judged: &Judged<'_>) {
        let violates = judged.run.violations().next().is_some();
        self.violating.fetch_add(u64::from(violates), Ordering::Relaxed);
        if let Some(page) = self.page.as_ref().filter(|_| violates) {
            page.violated(judged);
        }
    }

    fn reporting(&self, violations: u64) {
        self.reporting.store(true, Ordering::Relaxed);
        if violations == 0 {
            return;
        }
        self.bar.set_style(style(&format!("{{bar:30}} {{pos}}/{{len}} violations {}", self.work)));
        self.bar.set_position(0);
        self.bar.set_length(violations);
    }

    fn reported(&self) {
        self.more(1);
    }

    fn ran_out(&self, left: &RanOut) {
        self.bar.suspend(|| {
            // If standard error is closed, the note is lost and the runs go on.
            let _ = writeln!(io::stderr().lock(), "picklock: note: {}", ran_out_line(*left));
        });
    }
}

/// A flag that a signal sets: the campaign ends with what it has.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_signal(Exit::Interrupted, move || flag.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_every_ten_seconds_and_a_long_silence_is_not_made_up_for() {
        let mut due = Schedule::default();
        let at = |seconds| Duration::from_secs(seconds);
        let said: Vec<u64> = [0, 1, 9, 10, 11, 19, 20, 47, 48, 56, 57]
            .into_iter()
            .filter(|now| due.is_due(at(*now)))
            .collect();
        assert_eq!(said, [10, 20, 47, 57]);
    }

    #[test]
    fn a_line_says_what_is_done_of_how_much_and_what_was_found() {
        assert_eq!(
            runs_line(1_200, Some(5_400), 31, Duration::from_millis(10_250)),
            "1200 of 5400 runs, 31 with a violation, 10s"
        );
        assert_eq!(
            runs_line(1_200, Some(u64::MAX), 0, Duration::from_secs(20)),
            "1200 runs, 0 with a violation, 20s"
        );
        assert_eq!(
            reporting_line(3, 9, work(true, true), Duration::from_secs(30)),
            "3 of 9 violations reduced and confirmed, 30s"
        );
        assert_eq!(
            reporting_line(3, 9, work(false, false), Duration::from_secs(30)),
            "3 of 9 violations repeated for their stories, 30s"
        );
        assert_eq!(
            ran_out_line(RanOut { all: 9, unreduced: 5, in_part: 1 }),
            "the time for reducing and confirming is over: of 9 violations 5 are reported as they were found, 1 are reduced or \
             confirmed in part; --shrink-budget TIME gives more time, --no-shrink takes none"
        );
    }
}
