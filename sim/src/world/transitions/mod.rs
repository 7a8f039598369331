//! The transitions of the world: how its state changes, a file for each part of it. `actions` applies fault actions.

mod actions;
mod deciding;
mod ending;
mod network;
mod oracle;
mod points;
mod process;
pub(super) mod steering;
mod timers;
