//! The supervisor, on Linux and x86-64.

mod clocks;
mod files;
mod group;
mod holdings;
pub(crate) mod instructions;
mod kernel;
mod life;
mod network;
mod parked;
mod pool;
mod process;
mod readiness;
mod regions;
mod schedule;
mod sibling;
mod stack;
mod start;
mod state;
mod streams;
mod template;

pub use group::Group;
pub use life::Template;
pub use pool::Pool;
pub(crate) use readiness::findings;
