//! Who watches a range of keys, and the events that are sent to it.

use picklock_sim::host::Origin;
use tokio::sync::mpsc;

use super::keys::Range;
use crate::messages::{EventKind, Header, WatchEvent};

/// Events for one who watches.
pub(crate) struct Notice {
    /// The message that brought them about.
    pub(crate) origin: Origin,
    pub(crate) header: Header,
    pub(crate) watch: i64,
    pub(crate) events: Vec<WatchEvent>,
}

/// One who watches a range of keys.
pub(crate) struct Watch {
    /// Its number on its own stream.
    pub(crate) watch: i64,
    pub(crate) key: Vec<u8>,
    pub(crate) end: Vec<u8>,
    /// The first revision that is sent to it; 0 if it is the next one.
    pub(crate) from: i64,
    pub(crate) filters: Vec<EventKind>,
    pub(crate) with_previous: bool,
    pub(crate) sender: mpsc::UnboundedSender<Notice>,
}

impl Watch {
    /// Sends it those of these events that it watches.
    pub(super) fn notice(&self, origin: Origin, header: Header, events: &[WatchEvent]) {
        let range = Range { key: &self.key, end: &self.end };
        let is_watched = |event: &&WatchEvent| {
            let kv = event.kv.as_ref();
            kv.is_some_and(|kv| kv.mod_revision >= self.from && range.contains(&kv.key))
                && !self.filters.contains(&event.kind())
        };
        let mut events: Vec<WatchEvent> = events.iter().filter(is_watched).cloned().collect();
        if events.is_empty() {
            return;
        }
        if !self.with_previous {
            events.iter_mut().for_each(|event| event.prev_kv = None);
        }
        // Who watched may be gone.
        let _ = self.sender.send(Notice { origin, header, watch: self.watch, events });
    }
}
