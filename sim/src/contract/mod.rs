//! The contract between what is tested and what tests it: a lock, and the design around it.

pub mod autonomous;
mod client;
pub mod data;
pub mod design;
pub mod family;
pub mod lock;
pub mod param;
pub mod recorder;
pub mod store;
