//! One run, or one world that is served: everything below put together.

mod bound;
mod hosts;
pub mod live;
mod one;
mod options;
mod seat;
#[cfg(test)]
mod tests;

pub use one::{Panicked, Run, run};
pub use options::Options;
pub use seat::{ClientSeat, Workload};

pub use crate::world::Wire;
