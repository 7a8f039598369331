//! The content of the segments of a run that is to be shown and was asked to keep it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::ids::EventId;
use picklock_model::trace::Role;

/// Reads a segment to a member of this role (true) or from one (false); none if it cannot be read alone.
type Decode = Arc<dyn Fn(Role, bool, &[u8]) -> Option<String> + Send + Sync>;

/// The content of segments, by the event of their sending.
pub type Wire = BTreeMap<EventId, String>;

/// Keeps what segments say, in words: the bytes themselves are gone with the segment.
pub(crate) struct Keeper {
    decode: Decode,
    kept: Mutex<Wire>,
}

impl Keeper {
    pub(crate) fn new(decode: Decode) -> Keeper {
        Keeper { decode, kept: Mutex::default() }
    }

    /// Keeps what a segment says. It is read outside of the world's lock, as all code is that others wrote.
    pub(crate) fn keep(&self, sent: EventId, role: Role, request: bool, bytes: &[u8]) {
        if let Some(said) = (self.decode)(role, request, bytes) {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(sent, said);
        }
    }

    pub(crate) fn take(&self) -> Wire {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
