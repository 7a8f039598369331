//! The supervisor, on Linux and x86-64.

mod clocks;
mod effort;
mod files;
mod group;
mod holdings;
pub(crate) mod instructions;
mod kernel;
mod life;
mod network;
mod notifications;
mod parked;
mod points;
mod pool;
mod process;
mod readiness;
mod regions;
mod sibling;
mod stack;
mod start;
mod startup;
mod state;
mod streams;
mod template;
mod turns;

pub use group::Group;
pub use life::Template;
pub use pool::Pool;
pub(crate) use readiness::findings;
