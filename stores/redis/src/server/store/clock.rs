//! The time while a command is executed.
//!
//! A key is dead or alive as of the instant at which the command began. What Redis 7.0 reads of the clock besides
//! (TIME, the base of relative expiries, the time left) goes on within a script or a transaction; 7.2 freezes that as
//! well. Here time passes by DEBUG SLEEP, and by asking for it over and over: a script that waits for the clock comes to
//! an end. The node makes up for it by doing nothing for as long afterwards.

use std::time::Duration;

use picklock_model::time::WallTime;

use super::dataset::Store;
use crate::server::version::Version;

/// How often a command may ask for the time before asking takes any. Scripts that only want to know it ask less often.
const FREE_QUESTIONS: u32 = 64;
/// How long each question takes after that, in microseconds: longer than a real one, so that a script that waits for a
/// second is not taken for one that never ends.
const QUESTION_US: u64 = 20;

impl Store {
    /// Begins a command when the wall clock shows `now`.
    pub fn begin(&mut self, now: WallTime) {
        self.now = now;
        self.elapsed_us = 0;
        self.questions = 0;
    }

    /// Lets time pass within the command at hand.
    pub fn sleep(&mut self, ms: u64) {
        self.elapsed_us = self.elapsed_us.saturating_add(ms.saturating_mul(1_000));
    }

    /// Ends the command at hand: what passed of the clock is over for everything that follows. How much that was, in
    /// milliseconds.
    pub fn settle(&mut self) -> u64 {
        let elapsed_us = std::mem::take(&mut self.elapsed_us);
        self.questions = 0;
        self.now = self.now + Duration::from_micros(elapsed_us);
        elapsed_us / 1_000
    }

    /// The wall clock as a command reads it.
    #[must_use]
    pub fn clock(&self) -> WallTime {
        if self.version >= Version::V7_2 {
            return self.now;
        }
        self.now + Duration::from_micros(self.elapsed_us)
    }

    /// The same in milliseconds.
    #[must_use]
    pub fn clock_ms(&self) -> i64 {
        i64::try_from(self.clock().as_millis()).unwrap_or(i64::MAX)
    }

    /// The wall clock as it is read by a command that is about the time, and may be asked again until it has passed.
    pub fn ask_clock(&mut self) -> WallTime {
        self.questions = self.questions.saturating_add(1);
        if self.questions > FREE_QUESTIONS && self.version < Version::V7_2 {
            self.elapsed_us = self.elapsed_us.saturating_add(QUESTION_US);
        }
        self.clock()
    }
}
