//! The messages of a node to sessions other than the one whose command it executes: messages, replies to those that waited,
//! and the end of a connection.

use std::sync::Arc;

use super::ids::SessionId;

/// Something for one session that it did not ask for just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whom it is for.
    pub session: SessionId,
    /// The bytes for its connection.
    pub bytes: Arc<[u8]>,
    /// The fate of the connection.
    pub then: Then,
}

/// The fate of a connection after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on as it was.
    Same,
    /// Its wait is over: commands that it sent meanwhile are executed.
    Resume,
    /// It is closed.
    Close,
}
