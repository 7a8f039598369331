//! The names of things in a run. All are small, ordered and stable under shrinking.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A host: its index in the run's list of hosts ([`Trace::hosts`](crate::trace::Trace::hosts)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(pub u16);

/// A connection, numbered in the order in which connects began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnId(pub u32);

/// An event of a trace, numbered in the order of emission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub u32);

/// A grant, named by the request that asked for it: the client and the ordinal of its section.
///
/// The ordinal is written in the plan, so that removing one section does not rename the others. It exists before
/// the lock is granted and also when it never is: it is the causal origin of everything done for that section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GrantId {
    /// The client host that asks.
    pub client: HostId,
    /// The ordinal of the section among that client's sections, from 1.
    pub section: u32,
    /// Which of the client's tasks it belongs to, from 0. Sections are numbered across the tasks of a client.
    #[serde(default, skip_serializing_if = "is_first")]
    pub task: u32,
}

impl GrantId {
    /// The section of this ordinal of a client's first task.
    #[must_use]
    pub const fn new(client: HostId, section: u32) -> GrantId {
        GrantId { client, section, task: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
fn is_first(task: &u32) -> bool {
    *task == 0
}

/// Where something comes from: the message that an action of a server goes back to, and the section in whose service that was
/// sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The delivery of the message.
    pub cause: Option<EventId>,
    /// The section.
    pub grant: Option<GrantId>,
}

/// A key: what is locked, in the lock's keyspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(Arc<str>);

impl Key {
    /// A key by its name.
    #[must_use]
    pub fn new(name: &str) -> Key {
        Key(Arc::from(name))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A fencing token: a number handed out with a grant, meant to increase strictly from grant to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
