//! The words that all of a node shares: the number of a connection, and a command that is kept for later.

/// The number of a connection, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

impl SessionId {
    /// The number as a reply gives it.
    #[must_use]
    pub fn number(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

/// A command with its arguments, kept to be executed later.
pub(crate) type KeptCommand = Vec<Vec<u8>>;
