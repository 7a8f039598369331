//! What a node sends to sessions other than the one whose command it executes: messages, replies to those that waited,
//! and the end of a connection.

use std::sync::Arc;

use super::ids::SessionId;

/// Something for one session that it did not ask for just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whom it is for.
    pub session: SessionId,
    /// What goes over its connection.
    pub bytes: Arc<[u8]>,
    /// What becomes of the connection.
    pub then: Then,
}

/// What becomes of a connection after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on as it was.
    Same,
    /// What it waited for has come: commands that it sent meanwhile are executed.
    Resume,
    /// It is closed.
    Close,
}
