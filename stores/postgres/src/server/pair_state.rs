//! The state of a server that is one of two: how much of its log the other has, and until when it is confirmed.

use std::time::Duration;

use picklock_model::time::Monotonic;

use crate::server::record::Record;

/// What a server knows of the other server of its store.
#[derive(Debug, Default)]
pub(crate) struct Replicated {
    /// True while it follows another server, and takes no writes.
    pub(crate) in_recovery: bool,
    /// True if its log is for a standby, which has to know where transactions end.
    pub(crate) feeds: bool,
    /// True if the standby is synchronous: commits wait for it.
    pub(crate) synchronous: bool,
    /// How many records its log has.
    pub(crate) logged: u64,
    /// How many of them are on the disk of the standby.
    pub(crate) copied: u64,
    /// The changes of rows that were replayed, and whose commit is still to come.
    pub(crate) replayed: Vec<Record>,
}

/// How long a primary serves without a confirmation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub(crate) limit: Duration,
    /// Until when it serves; none if it does not.
    pub(crate) until: Option<Monotonic>,
}
