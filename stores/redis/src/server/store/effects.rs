//! The effects of commands besides the reply: events of records, effects for replicas, changes for those who watch keys.

use picklock_model::trace::What;

/// The effects of commands besides the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The events of records.
    pub events: Vec<What>,
    /// The changes as commands with absolute times: what replicas and the append-only file get.
    pub writes: Vec<u8>,
    /// Where each command of `writes` ends, and which database it is about.
    pub parts: Vec<Part>,
}

/// One command of the effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The database that it is about.
    pub database: usize,
    /// Where it ends among the bytes of the effects; it begins where the one before it ends.
    pub end: usize,
}

/// A change of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The database that it is in.
    pub database: usize,
    /// The key.
    pub key: Vec<u8>,
    /// The meaning of the change.
    pub touch: Touch,
    /// The class of the notification, a letter of `notify-keyspace-events`, and its name.
    pub event: Option<(u8, &'static str)>,
}

/// The meaning of a change for those who wait for a key or watch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is the same as before.
    Same,
    /// It was changed: that wakes who waits for it, and fails who watches it.
    Changed,
    /// It has another value in the place of the one that it had: that fails who watches it, and wakes nobody.
    Replaced,
    /// Where it was not, it is now, but dead: who watches it sees nothing at both times.
    CameDead,
    /// A database was emptied: no key is named.
    Flushed,
}
