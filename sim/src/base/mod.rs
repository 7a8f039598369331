//! Small parts that everything else in the world is written in.

pub(crate) mod deadline;
pub(crate) mod future;
pub mod mailbox;
pub mod own_thread;
pub mod waiter;
