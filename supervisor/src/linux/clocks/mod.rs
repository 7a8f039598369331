//! Clock reads, sleeps and timers.

pub(super) mod axis;
pub(super) mod made_timers;
pub(super) mod reads;
pub(super) mod timers;
