//! The event queue: ordered by true time, entries of one instant in the order in which they were made.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Direction;
use picklock_model::ids::{ConnId, HostId};
use picklock_model::time::TrueTime;

/// An entry of the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// A timer of a host's monotonic clock, perhaps: see [`Timers`](super::timers::Timers).
    Timer { slot: u32 },
    /// The first segment in flight arrives.
    Arrival { conn: ConnId, direction: Direction },
    /// A pause, suspension or stall may be over.
    Resume { host: HostId, injection: u32 },
    /// A fault action is to be applied.
    Action { injection: u32 },
    /// A fault action with a duration ends.
    Heal { injection: u32 },
    /// A dead process is started anew.
    Restart { host: HostId, injection: u32 },
    /// The advertised deadline of a holder passes on its clock.
    Deadline { host: HostId, generation: u32, task: u32 },
    /// A segment went unacknowledged for too long.
    GiveUp { conn: ConnId, direction: Direction, segment: u32 },
}

/// An entry: its time and, below it, its number. One comparison of one number decides which of two comes first.
struct Entry {
    turn: u128,
    due: Pending,
}

impl Entry {
    fn at(&self) -> TrueTime {
        TrueTime((self.turn >> u64::BITS) as u64)
    }
}

/// A heap hands out the greatest first, so what comes first is the greatest.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        other.turn.cmp(&self.turn)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.turn == other.turn
    }
}

impl Eq for Entry {}

#[derive(Default)]
pub(super) struct EventQueue {
    heap: BinaryHeap<Entry>,
    made: u64,
}

impl EventQueue {
    pub(super) fn push(&mut self, at: TrueTime, due: Pending) {
        let nth = self.number();
        self.insert(at, nth, due);
    }

    /// The number of an entry made now: among those of one instant the lower comes first.
    pub(super) fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Puts in an entry that was numbered before.
    pub(super) fn insert(&mut self, at: TrueTime, nth: u64, due: Pending) {
        self.heap.push(Entry { turn: u128::from(at.0) << u64::BITS | u128::from(nth), due });
    }

    pub(super) fn next_at(&self) -> Option<TrueTime> {
        self.heap.peek().map(Entry::at)
    }

    pub(super) fn pop_until(&mut self, limit: TrueTime) -> Option<(TrueTime, u64, Pending)> {
        if self.next_at()? > limit {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at(), entry.turn as u64, entry.due))
    }
}
