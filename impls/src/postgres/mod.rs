//! The designs on PostgreSQL. `waiting` is what they share: the parameters of a client that waits.

pub(crate) mod optimistic_row;
pub mod row_lock;
pub mod row_lock_outside;
pub(crate) mod unique_row;
mod waiting;
