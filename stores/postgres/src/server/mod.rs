//! The simulated server: a machine that executes statements without a socket and a clock, and what puts it on a host.

mod data;
mod execute;
mod guarded;
mod journal;
mod machine;
mod plan;
mod query;
mod serve;
mod session;
mod settings;
mod sql;

pub use guarded::Guarded;
pub use journal::Record;
pub use machine::{Delivery, Effects, Machine, Now, SessionId};
pub use serve::serve;
