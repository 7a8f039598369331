//! What a node sends to sessions other than the one whose command it executes: messages, replies to those that waited,
//! and the end of a connection.

use std::sync::Arc;

use super::{Node, SessionId};

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

impl Node {
    /// Sends bytes to a session: to the one whose command is executed with its reply, to others as a delivery.
    pub(crate) fn send(&mut self, session: SessionId, bytes: &[u8]) {
        if self.current == Some(session) {
            self.out.extend_from_slice(bytes);
        } else {
            self.deliver(session, bytes.into(), Then::Same);
        }
    }

    pub(crate) fn deliver(&mut self, session: SessionId, bytes: Arc<[u8]>, then: Then) {
        self.deliveries.push(Delivery { session, bytes, then });
    }

    /// What has to be sent to other sessions since it was last asked, in order.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }
}
