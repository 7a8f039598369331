//! The words of a product for its members and for the records of locks.

/// The words of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The member that takes writes.
    pub leader: &'static str,
    /// A member that keeps the same data.
    pub follower: &'static str,
    /// True if clients queue for a lock by keys of their own, and the record of the lock is the first of them. A key that waited behind another
    /// was created before it became the record.
    pub queues: bool,
    /// True if the leader proposes the end of a lease to all members, and each drops the record when it applies that: later than the lease ran out,
    /// by a time that the member does not know.
    pub proposes: bool,
    /// True if a server drops a record whose lease is over; false if only clients judge that.
    pub drops: bool,
}

impl Default for Vocabulary {
    fn default() -> Vocabulary {
        Vocabulary { leader: "primary", follower: "replica", queues: false, proposes: false, drops: true }
    }
}

impl Vocabulary {
    /// The words of a product whose members elect a leader.
    pub const ELECTED: Vocabulary =
        Vocabulary { leader: "leader", follower: "follower", queues: false, proposes: true, drops: true };
}
