//! The parameters of PostgreSQL stores.

use std::time::Duration;

use picklock_sim::param::{HOUR, OneSpan, Param, Word};
use picklock_sim::params;

/// How long the primary is silent until the controller promotes the standby.
pub const DOWN_AFTER: Param<OneSpan> = Param {
    name: "down_after",
    domain: OneSpan { min: Duration::from_millis(1), max: HOUR },
    default: "0.2 x ttl",
    doc: "the controller of a replicated store promotes the standby once the primary is silent for this long",
};

/// Whether an old primary stops before the standby leads.
pub const FENCED: Param<Word> = Param {
    name: "fenced",
    domain: Word(&["no", "yes"]),
    default: "no",
    doc: "yes: a primary stops serving once the controller no longer confirms it; no: it goes on beside the promoted standby",
};

/// When a commit is durable.
pub const SYNCHRONOUS_COMMIT: Param<Word> = Param {
    name: "synchronous_commit",
    domain: Word(&["off", "local", "on"]),
    default: "local",
    doc: "when a commit is answered: at once, and it is on the disk 200 ms later; once it is on the server's disk; or once it is \
          on that of the standby too, which is synchronous then",
};

/// Whether the disks sync.
pub const FSYNC: Param<Word> = Param {
    name: "fsync",
    domain: Word(&["on", "off"]),
    default: "on",
    doc: "whether what is synced is on the disk: off loses everything with the power",
};

/// How late the disks sync.
pub(crate) const DISK_DELAY: Param<OneSpan> = Param {
    name: "disk_delay",
    domain: OneSpan { min: Duration::ZERO, max: HOUR },
    default: "0s",
    doc: "how long what a server has synced lies in the cache of a disk that says at once that it is there: a loss of power takes it",
};

/// All of them.
pub(crate) const PARAMS: &[Param] = params![DOWN_AFTER, FENCED, SYNCHRONOUS_COMMIT, FSYNC, DISK_DELAY];
