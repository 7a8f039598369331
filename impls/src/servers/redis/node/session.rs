//! What a node keeps of one connection.

use crate::servers::redis::resp::Protocol;

use super::waiting::Waiting;

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

/// What a node keeps of one connection.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its number.
    pub id: SessionId,
    /// Where it comes from.
    pub peer: String,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// The name that the client gave itself; empty if none.
    pub name: Vec<u8>,
    /// The offset of the effects when its last command was done.
    pub wrote: u64,
    /// What it waits for; until then, nothing else that it sends is executed.
    pub(super) waiting: Option<Box<Waiting>>,
}
