//! The parameters of ZooKeeper.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_raft::Keeps;
use picklock_sim::param::{OneSpan, Param, Word};
use picklock_sim::params;

use crate::version::Version;

pub(crate) const TICK_TIME: Param<OneSpan> = Param {
    name: "tick_time",
    domain: OneSpan { min: Duration::from_millis(100), max: Duration::from_secs(2) },
    default: "2s",
    doc: "the tick of ZooKeeper, in whole milliseconds: a session lasts two at least, and one more until it is ended; members \
          that are silent for five are given up (tickTime)",
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
    default: "3.8",
    doc: "the version of ZooKeeper that a served member behaves like, where versions differ",
};

/// All of a store that is under test.
pub const PARAMS: &[Param] = params![TICK_TIME, DISK];

/// All of one that is served.
pub const SERVED: &[Param] = params![TICK_TIME, DISK, VERSION];
