//! The number of calls that a program makes while little time passes: loops that wait for nothing are noticed by it.

use crate::What;

/// Calls of all threads before a little time must pass.
const CALLS: u32 = 20_000;
/// The unit of time in which its calls are counted.
const SECOND_NS: u64 = 1_000_000_000;
/// The additional weight of a call of which the driver is notified.
const NOTIFIED: u64 = 2;
/// The same for a connection.
const CONNECTION: u64 = 100;
/// The weight of a ring of a timer, which is a step of the world of its own.
const RING: u64 = 50;
/// The weight of the creation of a thread or a process.
const CREATION: u64 = 300;

/// The calls of a group.
#[derive(Default)]
pub(crate) struct Effort {
    /// Since time has passed.
    calls: u32,
    /// The weight of the calls of a second, and since when.
    work: u64,
    since_ns: u64,
}

impl Effort {
    pub(crate) fn note_call(&mut self) {
        self.calls += 1;
        self.work += 1;
    }

    /// A timer rang.
    pub(crate) fn note_ring(&mut self) {
        self.work += RING;
    }

    pub(crate) fn note_creation(&mut self) {
        self.work += CREATION;
    }

    /// The driver is notified of a call.
    pub(crate) fn note_notified(&mut self, what: What) {
        self.work += if what == What::Connect { CONNECTION } else { NOTIFIED };
    }

    /// The clock is this from now on.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.since_ns) > SECOND_NS {
            (self.work, self.since_ns) = (0, now_ns);
        }
        self.calls = 0;
    }

    /// Resets the counts when start-up ends.
    pub(crate) fn reset(&mut self) {
        (self.calls, self.work) = (0, 0);
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    /// The weight of the calls of a second.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// True if a little time must pass now.
    pub(crate) fn takes_time(&mut self) -> bool {
        let takes = self.calls > CALLS;
        if takes {
            self.calls = 0;
        }
        takes
    }
}
