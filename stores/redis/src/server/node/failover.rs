//! The progress of a planned failover.

/// A planned failover that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failover {
    /// The address and port of the replica that shall take over; whichever has everything first if `None`.
    pub(crate) target: Option<(String, u16)>,
    /// Hand over to the target at the deadline, whatever it has.
    pub(crate) force: bool,
    /// Until when to wait for a replica, in milliseconds of the wall clock; without limit if `None`.
    pub(crate) deadline_ms: Option<i64>,
    /// How far it is.
    pub(crate) stage: Stage,
}

/// How far a planned failover is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A replica is awaited that has everything.
    WaitingForSync,
    /// This node follows the target and wants it to take over.
    HandingOver {
        /// True if the target was asked on the link at hand.
        asked: bool,
    },
}
