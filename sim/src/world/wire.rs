//! The content of the segments of a run that is to be shown and was asked to keep it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::ids::{ConnId, EventId};
use picklock_model::trace::Role;

/// Reads the segments of one connection: the next one to the member (true) or from it (false); none if it cannot be read.
pub(crate) type Reading = Box<dyn FnMut(bool, &[u8]) -> Option<String> + Send>;

/// Begins to read a connection to a member of this role.
type Open = Arc<dyn Fn(Role) -> Reading + Send + Sync>;

/// The content of segments, by the event of their sending.
pub type Wire = BTreeMap<EventId, String>;

/// Keeps what segments say, in words: the bytes themselves are gone with the segment.
pub(crate) struct Keeper {
    open: Open,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    readings: BTreeMap<ConnId, Reading>,
    wire: Wire,
}

impl Keeper {
    pub(crate) fn new(open: Open) -> Keeper {
        Keeper { open, kept: Mutex::default() }
    }

    /// Keeps what a segment says. It is read outside of the world's lock, as all code is that others wrote.
    pub(crate) fn keep(&self, sent: EventId, conn: ConnId, role: Role, request: bool, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = kept.readings.entry(conn).or_insert_with(|| (self.open)(role));
        if let Some(said) = reading(request, bytes) {
            kept.wire.insert(sent, said);
        }
    }

    pub(crate) fn take(&self) -> Wire {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).wire)
    }
}
