//! The content of a log, and what of a member survives its process.

use std::collections::BTreeSet;

use picklock_model::ids::Origin;

/// The number of a member; 0 is nobody.
pub type MemberId = u32;

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The term of the leader that made it.
    pub term: u64,
    /// Its place in the log, from 1.
    pub index: u64,
    /// The message that brought it about: for the trace, no member reads it.
    pub origin: Origin,
    /// What it says.
    pub content: Content,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing: the first entry of a leader.
    Nothing,
    /// A change of the state that the log is about.
    Data(Vec<u8>),
    /// The members from here on.
    Members(BTreeSet<MemberId>),
}

/// The member that got this member's vote in a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vote {
    /// The term.
    pub term: u64,
    /// Who got the vote; 0 if nobody did.
    pub given_to: MemberId,
}

/// The state after all entries up to a place, in place of these entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The place of the last entry that it stands for.
    pub index: u64,
    /// The term of that entry.
    pub term: u64,
    /// The members by then.
    pub members: BTreeSet<MemberId>,
    /// The state.
    pub state: Vec<u8>,
}

/// What a member finds on its disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Its last vote.
    pub vote: Vote,
    /// Its last snapshot, if it has one.
    pub snapshot: Option<Snapshot>,
    /// The entries after it.
    pub entries: Vec<Entry>,
}
