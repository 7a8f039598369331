//! Outages: what faults keep from working, from when until when.
//!
//! Only what lasts is an outage. A lost reply, a clock that jumps and a cancelled call happen at an instant. A client that died
//! for good is none either: there is nothing to wait for.

use serde::{Deserialize, Serialize};

use super::event::Halt;
use crate::ids::HostId;
use crate::time::TrueTime;

/// Something that a fault keeps from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// The index of the injection in the plan.
    pub injection: u32,
    /// The part that does not work.
    pub what: Broken,
    /// Since when.
    pub from: TrueTime,
    /// When it was over; `None` if it lasted to the end of the run.
    pub until: Option<TrueTime>,
}

impl Outage {
    /// True if it lasts at this instant.
    #[must_use]
    pub fn lasts_at(&self, at: TrueTime) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }

    /// True if it is a halt of this host's process.
    pub fn is_halt_of(&self, host: HostId) -> bool {
        matches!(self.what, Broken::Halted(halted, _) if halted == host)
    }
}

/// The part that does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Broken {
    /// The process of this host is dead.
    Dead(HostId),
    /// The process of this host, or its critical section, stands still.
    Halted(HostId, Halt),
    /// Nothing arrives from the first host at the second.
    Link(HostId, HostId),
    /// Messages are late.
    Late,
}
