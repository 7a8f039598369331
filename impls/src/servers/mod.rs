//! The servers that designs stand on: each speaks its real protocol over a simulated host's streams and knows nothing
//! of locks.

pub mod redis;
pub mod sentinel;
