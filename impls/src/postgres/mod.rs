//! The designs on PostgreSQL. They share how a client waits (`waiting`) and where its fencing tokens come from (`fencing`).

pub(crate) mod advisory;
pub(crate) mod advisory_pooled;
mod fencing;
pub(crate) mod lease_row;
pub(crate) mod optimistic_row;
pub mod row_lock;
pub mod row_lock_outside;
pub(crate) mod skip_locked;
pub(crate) mod unique_row;
mod waiting;
