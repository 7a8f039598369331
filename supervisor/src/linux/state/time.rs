//! The clocks of a program, and how often it may read them without waiting.
//!
//! Computation costs no time, so a program that only looks whether something happened would do so for ever: after many looks
//! it waits until a little time has passed.

use std::sync::Arc;

use super::call::{Answer, Cause, Deadline, Held, Late};
use crate::Clock;
use crate::linux::kernel::clock_page::{ClockPage, Image};
use crate::linux::kernel::memory::Memory;

/// Calls that do nothing but look whether something happened, before a little time must pass.
const SPINS: u32 = 300;
/// The same during start-up: importing redis-py alone reads the clock 13,000 times.
const START_UP_SPINS: u32 = 60_000;
/// That little time; it doubles as long as nothing else happens.
const LITTLE_NS: u64 = 50_000;
/// The most that it becomes.
const MOST_LITTLE_NS: u64 = 1_000_000;

/// The least time between two rings of a timer, each of which is a step of the world. A timer of a shorter interval rings for several.
const LEAST_INTERVAL_NS: u64 = 500_000;

pub(crate) fn is_wall(clock: i32) -> bool {
    matches!(
        clock,
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI | libc::CLOCK_REALTIME_ALARM
    )
}

/// The clock of a group, and how long it may be looked at.
pub(crate) struct Time {
    pub(crate) clock: Clock,
    pub(crate) page: Option<Arc<ClockPage>>,
    /// Calls that only looked, since time has passed.
    spins: u32,
    /// How many of them there may be.
    most_spins: u32,
    little_ns: u64,
}

impl Time {
    /// Time does not pass during start-up: whoever waits for it there has to come out of it.
    pub(crate) fn new(clock: Clock, page: Option<Arc<ClockPage>>) -> Self {
        Self { clock, page, spins: 0, most_spins: START_UP_SPINS, little_ns: LITTLE_NS }
    }

    /// Lets time pass when start-up ends: the limits are those of a run, and the program sees the clock.
    pub(crate) fn start(&mut self) {
        (self.most_spins, self.little_ns) = (SPINS, LITTLE_NS);
        self.pass(self.clock);
    }

    /// The clock is this from now on.
    pub(crate) fn pass(&mut self, clock: Clock) {
        (self.clock, self.spins) = (clock, 0);
        if let Some(page) = &self.page {
            page.show(clock);
        }
    }

    /// The time that must pass before a program goes on that calls without end.
    pub(crate) fn after_calls(&mut self) -> u64 {
        self.spins = 0;
        self.clock.monotonic_ns + self.little()
    }

    /// A thread waits for something else than time.
    pub(crate) fn forget_little(&mut self) {
        self.little_ns = LITTLE_NS;
    }

    /// The little time that must pass for a program which only looks.
    fn little(&mut self) -> u64 {
        let little = self.little_ns;
        self.little_ns = (2 * little).min(MOST_LITTLE_NS);
        little
    }

    pub(crate) fn in_little(&mut self) -> Deadline {
        let little = self.little();
        self.in_time(little)
    }

    /// A call that only looks: after many of them, a little time must pass.
    fn spins_too_long(&mut self) -> bool {
        self.spins += 1;
        self.spins > self.most_spins
    }

    /// Holds a call that only looks, if there were many.
    pub(crate) fn pause(&mut self, late: Late) -> Option<Answer> {
        if !self.spins_too_long() {
            return None;
        }
        self.spins = 0;
        Some(Answer::Hold(Held { until: Some(self.in_little()), cause: Cause::Time, late }))
    }

    /// A call that only looks is the kernel's, until there were many.
    pub(crate) fn glance(&mut self, late: Late) -> Answer {
        self.pause(late).unwrap_or(Answer::Go)
    }

    pub(crate) fn in_time(&self, delay_ns: u64) -> Deadline {
        Deadline::Monotonic(self.clock.monotonic_ns.saturating_add(delay_ns))
    }

    /// The monotonic time of a deadline, as things stand.
    pub(crate) fn monotonic(&self, deadline: Deadline) -> u64 {
        match deadline {
            Deadline::Monotonic(at) => at,
            Deadline::Wall(at) => {
                self.clock.monotonic_ns.saturating_add(at.saturating_sub(self.clock.wall_ns))
            }
        }
    }

    pub(crate) fn is_over(&self, deadline: Deadline) -> bool {
        match deadline {
            Deadline::Monotonic(at) => at <= self.clock.monotonic_ns,
            Deadline::Wall(at) => at <= self.clock.wall_ns,
        }
    }

    /// How often a timer has rung that was due then, and when it rings next.
    pub(crate) fn rung(&self, next: Deadline, interval: u64) -> (u64, Option<Deadline>) {
        let now = match next {
            Deadline::Monotonic(_) => self.clock.monotonic_ns,
            Deadline::Wall(_) => self.clock.wall_ns,
        };
        let (Deadline::Monotonic(due) | Deadline::Wall(due)) = next;
        let until = (now - due).max(if interval < LEAST_INTERVAL_NS { LEAST_INTERVAL_NS } else { 0 });
        let times = until.checked_div(interval).map_or(1, |more| more + 1);
        let later = due.saturating_add(times.saturating_mul(interval));
        let later = match next {
            Deadline::Monotonic(_) => Deadline::Monotonic(later),
            Deadline::Wall(_) => Deadline::Wall(later),
        };
        (times, (interval > 0).then_some(later))
    }

    /// The first of these deadlines, as a monotonic time.
    pub(crate) fn first(&self, deadlines: impl Iterator<Item = Deadline>) -> Option<u64> {
        deadlines.map(|deadline| self.monotonic(deadline)).min()
    }

    /// Notes a clock read that comes as a call although there is a page: the program has read the page too often, or its process
    /// has not read it yet.
    pub(crate) fn note_read(&mut self, image: Image, memory: Memory) {
        let Some(page) = &self.page else { return };
        if page.is_exhausted() {
            self.spins += SPINS;
            page.allow();
        } else {
            // The first look of this process: the next ones read the page.
            let _ = image.map(memory);
        }
    }

    /// `sched_yield`.
    pub(crate) fn give_way(&mut self) -> Answer {
        let delay = if self.spins_too_long() { self.little() } else { 0 };
        Answer::Hold(Held { until: Some(self.in_time(delay)), cause: Cause::Time, late: Late::Answer(0) })
    }
}
