//! What clients are to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::ids::Key;
use crate::base::time::serde_ns;

/// What one client does: its sections, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPlan {
    /// The client's host name.
    pub name: String,
    /// Its sections in order.
    pub sections: Vec<SectionPlan>,
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
}
