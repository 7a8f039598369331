//! The kind of belief of a design's holders; a trace carries it, because invariants judge beliefs.

use serde::{Deserialize, Serialize};

/// How a holder comes to believe that it still holds: a policy of the client, not of the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// From the return of acquire until its release call begins. Most real code does this.
    #[default]
    Naive,
    /// Until the deadline that the library advertised, however that was computed; checked before every step.
    Trusting,
    /// Until `before_first_send + TTL - drift` on the holder's own clock; checked before every step.
    Honest,
    /// The design has no notion of holding.
    None,
}

/// Which grants of a key exclude each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exclusion {
    /// Every grant excludes every other: a lock.
    #[default]
    Mutual,
    /// So many may hold at the same time: a counting semaphore.
    Holders(u32),
    /// Those that share hold together, and one that does not excludes all: a read-write lock.
    Modes,
}
