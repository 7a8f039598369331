//! The parameters of etcd.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_raft::Keeps;
use picklock_sim::param::{OneSpan, Param, Word};
use picklock_sim::params;

use crate::version::Version;

pub(crate) const HEARTBEAT: Param<OneSpan> = Param {
    name: "heartbeat",
    domain: OneSpan { min: Duration::from_millis(10), max: Duration::from_secs(10) },
    default: "100ms",
    doc: "how often a leader of etcd sends the others a heartbeat, in whole milliseconds (heartbeat-interval)",
};

pub(crate) const ELECTION_TIMEOUT: Param<OneSpan> = Param {
    name: "election_timeout",
    domain: OneSpan { min: Duration::from_millis(50), max: Duration::from_secs(50) },
    default: "1s",
    doc: "a member of etcd that hears nothing of a leader for one to two times this long wants to be elected, in \
              whole milliseconds, at least five heartbeats (election-timeout)",
};

pub(crate) const DISK: Param<Word> = Param {
    name: "disk",
    domain: Word(&["kept", "torn", "lost"]),
    default: "kept",
    doc: "what a loss of power leaves of a member's log: all that it has acknowledged, the same and half of an entry that was being written, or nothing, as on a disk that only says that it syncs",
};

/// What this leaves to a member.
pub(crate) fn keeps(settings: &Settings) -> Keeps {
    match settings.get(DISK) {
        "lost" => Keeps::Nothing,
        "torn" => Keeps::AllAndTorn,
        _ => Keeps::All,
    }
}

pub(crate) const VERSION: Param<Word> = Param {
    name: "version",
    domain: Word(Version::NAMES),
    default: "3.7",
    doc: "the version of etcd that a served member behaves like, where versions differ",
};

/// All of a store that is under test.
pub const PARAMS: &[Param] = params![HEARTBEAT, ELECTION_TIMEOUT, DISK];

/// All of one that is served: there the version is a parameter of the servers, and not of a design.
pub const SERVED: &[Param] = params![HEARTBEAT, ELECTION_TIMEOUT, DISK, VERSION];

/// The fewest seconds of a lease that members with these settings grant.
pub(crate) fn shortest_lease(settings: &Settings) -> u64 {
    fewest_seconds(settings.get(HEARTBEAT), election_ticks(settings))
}

/// One and a half elections, rounded up.
pub(crate) fn fewest_seconds(tick: Duration, election_ticks: u32) -> u64 {
    (tick * (3 * election_ticks / 2)).as_nanos().div_ceil(1_000_000_000) as u64
}

/// An election in heartbeats.
pub(crate) fn election_ticks(settings: &Settings) -> u32 {
    let ticks = settings.get(ELECTION_TIMEOUT).as_nanos() / settings.get(HEARTBEAT).as_nanos().max(1);
    u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
}
