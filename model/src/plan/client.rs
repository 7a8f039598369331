//! The plans of clients: their sections and what each does.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::world::is_false;
use crate::ids::Key;
use crate::time::serde_ns;

/// The plan of one client: its sections, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPlan {
    /// The client's host name.
    pub name: String,
    /// Its sections in order.
    pub sections: Vec<SectionPlan>,
    /// Sections that it carries out after those, as long as a fault lasts and nobody else asks for the lock; `think` is how
    /// long it waits before it looks whether somebody should.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "rivals")]
    pub background: Vec<SectionPlan>,
}

impl ClientPlan {
    /// A client that carries out these sections and no more.
    #[must_use]
    pub fn new(name: impl Into<String>, sections: Vec<SectionPlan>) -> ClientPlan {
        ClientPlan { name: name.into(), sections, background: Vec::new() }
    }
}

/// One critical section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionPlan {
    /// Its ordinal, from 1: kept when other sections are removed.
    pub ordinal: u32,
    /// The key it locks and the register it changes.
    pub key: Key,
    /// How long the client waits before it asks for the lock.
    #[serde(rename = "think_ns", with = "serde_ns")]
    pub think: Duration,
    /// How long it works between reading and writing the resource.
    #[serde(rename = "work_ns", with = "serde_ns")]
    pub work: Duration,
    /// Which of the client's tasks carries it out, from 0; all of them share the client's lock.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub task: u32,
    /// True if it asks for the lock together with others that only read, and only reads.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shared: bool,
}

impl SectionPlan {
    /// A section of a client's only task, which changes what it reads.
    #[must_use]
    pub fn new(ordinal: u32, key: Key, think: Duration, work: Duration) -> SectionPlan {
        SectionPlan { ordinal, key, think, work, task: 0, shared: false }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
fn is_zero(given: &u32) -> bool {
    *given == 0
}
