//! What is due when: a queue ordered by true time, entries of one instant in the order in which they were made.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Direction;
use crate::base::ids::{ConnId, HostId};
use crate::base::time::TrueTime;

/// One entry. The order of the variants has no meaning; `Ord` is derived only because a heap asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A timer of a host's monotonic clock.
    Timer { slot: u32, generation: u32 },
    /// The first segment in flight arrives.
    Arrival { conn: ConnId, direction: Direction },
    /// A pause, suspension or stall may be over.
    Resume { host: HostId, injection: u32 },
    /// A lever is to be pulled.
    Lever { injection: u32 },
    /// A lever with a duration ends.
    Heal { injection: u32 },
    /// A dead process is started anew.
    Restart { host: HostId, injection: u32 },
    /// The advertised deadline of a holder passes on its clock.
    Deadline { host: HostId, generation: u32 },
    /// A segment went unacknowledged for too long.
    GiveUp { conn: ConnId, direction: Direction, segment: u32 },
}

#[derive(Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(TrueTime, u64, Due)>>,
    made: u64,
}

impl Agenda {
    pub(super) fn push(&mut self, at: TrueTime, due: Due) {
        self.heap.push(Reverse((at, self.made, due)));
        self.made += 1;
    }

    pub(super) fn next_at(&self) -> Option<TrueTime> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    pub(super) fn pop_until(&mut self, limit: TrueTime) -> Option<(TrueTime, Due)> {
        if self.next_at()? > limit {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }
}
