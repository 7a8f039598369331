//! The events of a world: each file is one kind of event and what the state does about it.

mod actions;
mod ending;
mod network;
mod oracle;
mod points;
mod process;
pub(super) mod steering;
mod timers;
