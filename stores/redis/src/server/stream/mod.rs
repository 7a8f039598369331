//! The stream of effects: how a command's effects stand in it, and its bytes as one numbered history.
//!
//! Replicas and the append-only file get the same: commands with absolute times.

mod history;
mod writer;

pub(crate) use history::{History, ReplicationId};
pub(crate) use writer::Writer;
