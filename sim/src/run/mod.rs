//! One run, or one world that is served: everything below put together.

pub mod live;
mod one;
#[cfg(test)]
mod tests;

pub use one::{ClientSeat, Panicked, Run, Workload, probe, run, run_keeping, scout};

pub use crate::world::Wire;
