//! The supervisor, on Linux and x86-64.

mod clocks;
mod copies;
mod files;
mod group;
pub(crate) mod instructions;
mod kernel;
mod network;
mod pool;
mod process;
mod readiness;
mod schedule;
mod stack;
mod start;
mod state;
mod streams;
mod template;

pub use copies::life::Template;
pub use group::Group;
pub use pool::Pool;
pub(crate) use readiness::findings;
