//! The log on a server's disk: each change on a line of JSON, synced before it is answered.

use picklock_model::ids::GrantId;
use picklock_sim::disk::Disk;
use serde::{Deserialize, Serialize};

use super::state::Command;

const LOG: &str = "raft-log";

/// The log of a server.
pub(super) struct Journal {
    disk: Disk,
}

/// A change in the log.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) command: Command,
    /// The section in whose service it was asked for, for the trace.
    pub(super) by: Option<GrantId>,
}

impl Journal {
    pub(super) fn new(disk: Disk) -> Journal {
        Journal { disk }
    }

    /// What earlier lives have left.
    pub(super) fn lines(&self) -> Vec<Line> {
        let bytes = self.disk.read(LOG);
        // A line that cannot be read was not written to its end, and was answered to nobody.
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    pub(super) fn append(&self, line: &Line) {
        let mut bytes = serde_json::to_vec(line).expect("a change has only what JSON has");
        bytes.push(b'\n');
        self.disk.append(LOG, &bytes);
        self.disk.sync(LOG);
    }
}
