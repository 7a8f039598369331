//! Threads and processes: their creation and end, signals, futexes, and what they see of the machine.

pub(super) mod creation;
pub(super) mod deaths;
pub(super) mod futex;
pub(super) mod guards;
pub(super) mod shared_memory;
pub(super) mod signals;
pub(super) mod surroundings;
