//! The supervisor, on Linux and x86-64.

mod clocks;
mod creation;
mod deaths;
mod effort;
mod files;
mod futex;
mod group;
mod guards;
mod holdings;
pub(crate) mod instructions;
mod kernel;
mod life;
mod network;
mod notifications;
mod output;
mod parked;
mod pipes;
mod points;
mod pool;
mod readiness;
mod regions;
mod shared_memory;
mod sibling;
mod signals;
mod stack;
mod start;
mod startup;
mod state;
mod surroundings;
mod template;
mod turns;
mod waiting;

pub use group::Group;
pub use life::Template;
pub use pool::Pool;
pub(crate) use readiness::findings;
