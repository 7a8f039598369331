//! How many calls a program makes while little time passes: loops that wait for nothing are noticed by them.

use crate::What;

/// Calls of all threads before a little time must pass.
const CALLS: u32 = 20_000;
/// What its calls are counted in.
const SECOND_NS: u64 = 1_000_000_000;
/// So much more than another call one counts of which the driver is told.
const TOLD: u64 = 2;
/// The same for a connection.
const CONNECTION: u64 = 100;
/// As so many calls the birth of a thread or a process counts.
const BIRTH: u64 = 300;

/// The calls of a group.
#[derive(Default)]
pub(crate) struct Effort {
    /// Since time has passed.
    calls: u32,
    /// What those of a second amount to, and since when.
    work: u64,
    since_ns: u64,
}

impl Effort {
    pub(crate) fn note_call(&mut self) {
        self.calls += 1;
        self.work += 1;
    }

    pub(crate) fn note_creation(&mut self) {
        self.work += BIRTH;
    }

    /// The driver is told of a call.
    pub(crate) fn note_notified(&mut self, what: What) {
        self.work += if what == What::Connect { CONNECTION } else { TOLD };
    }

    /// The clock is this from now on.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.since_ns) > SECOND_NS {
            (self.work, self.since_ns) = (0, now_ns);
        }
        self.calls = 0;
    }

    /// Start-up is over.
    pub(crate) fn take_up(&mut self) {
        (self.calls, self.work) = (0, 0);
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    /// What the calls of a second amount to.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Whether a little time must pass now.
    pub(crate) fn takes_time(&mut self) -> bool {
        let takes = self.calls > CALLS;
        if takes {
            self.calls = 0;
        }
        takes
    }
}
