//! Time and identity: what everything else is written in.

pub mod clock;
pub(crate) mod deadline;
pub(crate) mod future;
pub mod ids;
pub mod own_thread;
pub mod seed;
pub mod text;
pub mod time;
pub mod waiter;
