//! A progress bar on a terminal, and what Ctrl-C does.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use picklock_scenarios::campaign::Observer;

use super::exit::Failure;

/// Shows how a campaign goes on; nothing unless standard error is a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(runs: u64) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr_with_hz(10));
        if !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_style(style("{bar:30} {human_pos}/{human_len} runs, {per_sec}, {eta} left"));
        Bar(bar)
    }

    /// So many of all are done.
    pub(crate) fn at(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
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

    pub(crate) fn says(&self, message: &'static str) {
        self.0.set_message(message);
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}

impl Observer for Bar {
    fn ran(&self, runs: u64) {
        self.0.inc(runs);
    }

    fn telling(&self, violations: u64) {
        self.0.set_length(violations);
        self.0.set_position(0);
        self.0.set_style(style("{bar:30} {pos}/{len} violations reduced and confirmed"));
    }

    fn told(&self) {
        self.0.inc(1);
    }
}

/// A flag that Ctrl-C sets: the campaign ends with what it has. A second Ctrl-C ends the process at once.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(Failure::internal)?;
    Ok(stop)
}
