//! The content of the segments of a run that is to be shown and was asked to keep it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::ids::{ConnId, EventId};
use picklock_model::trace::Role;

/// Reads the segments of one connection: the next one to the member (true) or from it (false); none if it cannot be read.
pub(crate) type Reading = Box<dyn FnMut(bool, &[u8]) -> Option<String> + Send>;

/// Begins to read a connection to a member of this role.
type Open = Arc<dyn Fn(Role) -> Reading + Send + Sync>;

/// Counts the bytes of a reply of a member of this role that are about the server itself.
type Count = Arc<dyn Fn(Role, &[u8]) -> u32 + Send + Sync>;

/// The content of segments, by the event of their sending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    said: BTreeMap<EventId, String>,
    of_itself: BTreeMap<EventId, u32>,
}

impl Wire {
    /// Of no segment.
    #[must_use]
    pub fn new() -> Wire {
        Wire::default()
    }

    /// The content of the segment that this event sent, in words. None if it was not kept, or cannot be read.
    #[must_use]
    pub fn get(&self, sent: &EventId) -> Option<&String> {
        self.said.get(sent)
    }

    /// All that is known, in the order of the events.
    pub fn said(&self) -> impl Iterator<Item = &str> {
        self.said.values().map(String::as_str)
    }

    /// The bytes of the segment that this event sent that are about the server itself.
    #[must_use]
    pub fn of_itself(&self, sent: EventId) -> u32 {
        self.of_itself.get(&sent).copied().unwrap_or(0)
    }

    /// True if no content is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Adds the content of the segment that this event sent.
    pub fn insert(&mut self, sent: EventId, said: String) {
        self.said.insert(sent, said);
    }
}

impl FromIterator<(EventId, String)> for Wire {
    fn from_iter<T: IntoIterator<Item = (EventId, String)>>(said: T) -> Wire {
        Wire { said: said.into_iter().collect(), of_itself: BTreeMap::new() }
    }
}

/// Keeps what segments say, in words: the bytes themselves are gone with the segment.
pub(crate) struct Keeper {
    open: Open,
    of_itself: Count,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    readings: BTreeMap<ConnId, Reading>,
    wire: Wire,
}

impl Keeper {
    pub(crate) fn new(open: Open, of_itself: Count) -> Keeper {
        Keeper { open, of_itself, kept: Mutex::default() }
    }

    /// Keeps what a segment says. It is read outside of the world's lock, as all code is that others wrote.
    pub(crate) fn keep(&self, sent: EventId, conn: ConnId, role: Role, request: bool, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = kept.readings.entry(conn).or_insert_with(|| (self.open)(role));
        if let Some(said) = reading(request, bytes) {
            kept.wire.insert(sent, said);
        }
        let of_itself = if request { 0 } else { (self.of_itself)(role, bytes) };
        if of_itself > 0 {
            kept.wire.of_itself.insert(sent, of_itself);
        }
    }

    pub(crate) fn take(&self) -> Wire {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).wire)
    }
}
