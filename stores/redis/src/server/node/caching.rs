//! The caches of clients, as far as a node remembers them.

use std::collections::{BTreeMap, BTreeSet};

use super::ids::SessionId;

/// The caches of a session, once it has asked to be notified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caching {
    /// The session that is notified in its place.
    pub(crate) redirect: Option<SessionId>,
    /// The mode of broadcasting: it is notified of keys with its prefixes, whether it read them or not.
    pub(crate) broadcast: bool,
    /// Only what it reads right after CLIENT CACHING YES is remembered.
    pub(crate) opt_in: bool,
    /// All but what it reads right after CLIENT CACHING NO is remembered.
    pub(crate) opt_out: bool,
    /// It is not notified of its own changes.
    pub(crate) no_loop: bool,
    /// CLIENT CACHING was said for the next command or transaction.
    pub(crate) next: bool,
    /// The session that is to be notified in its place is gone.
    pub(crate) broken: bool,
    pub(crate) prefixes: BTreeSet<Vec<u8>>,
}

/// What a node remembers of the caches of its clients.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    /// True once a client has asked to be notified.
    pub(crate) used: bool,
    /// The sessions that have read a key since it was last notified of.
    pub(crate) keys: BTreeMap<Vec<u8>, BTreeSet<SessionId>>,
    pub(crate) prefixes: BTreeMap<Vec<u8>, Prefix>,
    /// The keys to notify the session of whose command is executed, once it is answered; none stands for all keys.
    pub(super) pending: Vec<Option<Vec<u8>>>,
    /// The session whose turn it is, also while others are served because of what it did.
    pub(crate) turn: Option<SessionId>,
    /// True while the changes of a command are looked at that is not answered yet.
    pub(super) executing: bool,
    /// True while the changes of a script are looked at: Redis takes them for nobody's.
    pub(super) in_script: bool,
    /// The keys that the script at hand was given.
    pub(crate) of_script: Vec<Vec<u8>>,
}

/// A prefix of keys in the mode of broadcasting.
#[derive(Debug, Default)]
pub(crate) struct Prefix {
    pub(super) clients: BTreeSet<SessionId>,
    /// The keys that were changed in this turn, and the session that did it last; none if that was a script, or nobody.
    pub(super) changed: BTreeMap<Vec<u8>, Option<SessionId>>,
}

impl Tracking {
    /// How many times a key is remembered for a session.
    pub(crate) fn items(&self) -> usize {
        self.keys.values().map(BTreeSet::len).sum()
    }
}
