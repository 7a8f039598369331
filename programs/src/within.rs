//! Connections of a program to itself: they pass no network, and no fault hits them.

use std::collections::BTreeMap;

use picklock_supervisor::SocketId;

/// Those of one program, by either end.
#[derive(Default)]
pub(crate) struct Within(BTreeMap<SocketId, SocketId>);

impl Within {
    /// Two of its sockets are the ends of one connection.
    pub(crate) fn join(&mut self, one: SocketId, other: SocketId) {
        self.0.extend([(one, other), (other, one)]);
    }

    /// The other end, if this is one of such a connection.
    pub(crate) fn other(&self, end: SocketId) -> Option<SocketId> {
        self.0.get(&end).copied()
    }

    /// The other end, which learns that this one was closed; none if it was closed before.
    pub(crate) fn close(&mut self, end: SocketId) -> Option<SocketId> {
        let other = self.0.remove(&end)?;
        self.0.remove(&other).map(|_| other)
    }
}
