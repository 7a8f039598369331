//! Designs on ZooKeeper: an ephemeral node below the lock's own, with a number, and a wait until the one before it is gone.

pub(crate) mod curator;
pub(crate) mod mutex;
pub(crate) mod place;
mod queue;
