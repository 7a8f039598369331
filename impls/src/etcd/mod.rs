//! Designs on etcd: a key below the lock's name that hangs on a lease, and a wait until those before it are gone.

mod data;
pub(crate) mod election;
mod held;
pub(crate) mod mutex;
pub(crate) mod queue;
