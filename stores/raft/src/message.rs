//! The messages between members.

use picklock_model::ids::Origin;

use crate::entry::{Entry, MemberId, Snapshot};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends it.
    pub from: MemberId,
    /// Whom it is for.
    pub to: MemberId,
    /// The sender's term; of a candidate that only asks, the term that it would have.
    pub term: u64,
    /// What it says.
    pub body: Body,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A candidate asks for a vote.
    Vote {
        /// The place of its last entry.
        index: u64,
        /// The term of its last entry.
        last_term: u64,
        /// True if it only asks whether it would get it.
        asks: bool,
    },
    /// The answer.
    Voted {
        /// True if it gets the vote.
        granted: bool,
        /// True if it only asked.
        asked: bool,
    },
    /// A leader sends entries.
    Append {
        /// The place of the entry before them.
        index: u64,
        /// The term of that entry.
        last_term: u64,
        /// The entries.
        entries: Vec<Entry>,
        /// Up to where the log is committed.
        committed: u64,
    },
    /// The follower has everything up to here, or it does not have the entry before.
    Appended {
        /// Up to where its log is as the leader's; if it refuses, the place that was asked for.
        index: u64,
        /// If it refuses, the last place that it may have.
        refused: Option<u64>,
    },
    /// A leader is there.
    Heartbeat {
        /// Up to where the log is committed, as far as the follower is known to have it.
        committed: u64,
        /// The number of the last read that waits for a confirmation; 0 if none does.
        read: u64,
    },
    /// The answer.
    Heard {
        /// The number that the heartbeat had.
        read: u64,
    },
    /// A leader sends the state in place of entries that it no longer has.
    Install {
        /// The state.
        snapshot: Snapshot,
    },
    /// A follower hands on what is to be appended.
    Propose {
        /// The message that brought it about.
        origin: Origin,
        /// The change.
        data: Vec<u8>,
    },
    /// A follower wants to read.
    Read {
        /// Its own number for it.
        read: u64,
    },
    /// The answer: what is committed up to here has to be applied before.
    Readable {
        /// The follower's number.
        read: u64,
        /// The place.
        index: u64,
    },
    /// Something that the log does not hold, from one owner of a node to another.
    Note {
        /// The message that brought it about.
        origin: Origin,
        /// What it says.
        data: Vec<u8>,
    },
}
