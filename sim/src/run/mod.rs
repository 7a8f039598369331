//! One run, or one world that is served: everything below put together.

mod bound;
mod context;
mod hosts;
pub mod live;
mod one;
mod options;
pub mod scripted;
#[cfg(test)]
mod tests;
mod under_way;

pub use context::{ClientContext, Workload};
pub use one::{Panicked, Run, run, run_choosing};
pub use options::Options;
pub use under_way::is_under_way;

pub use crate::world::Wire;
