//! The progress of a member, as its leader knows it.

/// How far a leader knows a member to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Up to here its log is as the leader's.
    pub(super) matched: u64,
    /// The entry that it is sent next.
    pub(super) next: u64,
    /// True if it was heard of since the leader last looked.
    pub(super) active: bool,
    /// Ticks since it was heard of, where a silence counts them.
    pub(super) quiet: u32,
}

impl Progress {
    pub(super) fn new(next: u64) -> Progress {
        Progress { matched: 0, next, active: true, quiet: 0 }
    }

    /// It was heard of.
    pub(super) fn hear(&mut self) {
        (self.active, self.quiet) = (true, 0);
    }
}
