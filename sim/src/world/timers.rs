//! Timers of the hosts' monotonic clocks. A change of a clock moves the true times of all timers that follow it.

use std::task::Waker;

use picklock_model::ids::HostId;
use picklock_model::time::{Monotonic, TrueTime};

/// A registered timer, by slot; the generation tells a slot's present user from its former ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerKey {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// All timers. Most are timeouts that are unregistered long before they are due, and their slots are soon used again
/// for a later time. So a slot keeps its one entry on the queue: when that comes up, it goes back in at the time of the
/// timer that the slot has by then, if any. The numbers of the entries are those that they would have had otherwise.
#[derive(Default)]
pub(super) struct Timers {
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<u32>,
}

pub(super) struct Slot {
    pub(super) host: HostId,
    pub(super) deadline: Monotonic,
    pub(super) generation: u32,
    /// True while the timer is registered.
    pub(super) set: bool,
    /// The task that it wakes; it stays behind, since the slot's next user is often the same.
    pub(super) waker: Waker,
    /// When it is due, and its number on the queue.
    pub(super) due: Turn,
    /// The entry on the queue that stands for the slot, never later than `due` while a timer is registered.
    pub(super) entry: Option<Turn>,
}

/// A place in the queue's order.
pub(super) type Turn = (TrueTime, u64);
