//! The end of a command by a signal: Ctrl-C, SIGTERM or SIGHUP.
//!
//! The first signal asks the command to end with what it has. A run cannot be interrupted, nor can a call of a library that a script
//! makes, so a command that has not ended after [`GRACE`] is ended with its exit code. What a campaign keeps stays valid then: a
//! journal grows by whole records, and other files are renamed into place. Programs under test die with picklock, which traces them.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::exit::{Exit, Failure};

/// The time that a command has to end by itself after a signal.
const GRACE: Duration = Duration::from_millis(1_500);

/// Calls `stop` at the first signal. The process ends with this code if the command goes on for longer than [`GRACE`], and at
/// a second signal.
pub(crate) fn on_signal(forced: Exit, stop: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let end = move || process::exit(i32::from(forced.code()));
    let (interrupt, interrupted) = mpsc::channel();
    let watchdog = move || {
        if interrupted.recv().is_ok() {
            thread::sleep(GRACE);
            end();
        }
    };
    // It is there before it is needed: at the limit of threads a later one would not be.
    thread::Builder::new().name("watchdog".to_owned()).spawn(watchdog).map_err(no_thread)?;
    let again = AtomicBool::new(false);
    let handler = move || {
        if again.swap(true, Ordering::Relaxed) {
            end();
        }
        stop();
        // Without a watchdog a second signal ends the process.
        let _ = interrupt.send(());
    };
    ctrlc::set_handler(handler).map_err(no_thread)
}

fn no_thread(error: impl std::fmt::Display) -> Failure {
    Failure::internal(format!("cannot wait for signals: {error}"))
}
