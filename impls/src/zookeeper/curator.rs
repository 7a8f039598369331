//! Curator's mutex: the recipe of ZooKeeper, and a client that notices when it is without a connection.
//!
//! *Claim:* one holder as long as holders stop when they are asked to: at the first loss of the connection (`obeys=suspended`).
//! *Weakness:* nobody makes them. Holders that stop only when the session is taken for lost (`obeys=lost`) go on for two thirds of its time until they
//! notice the silence and for all of it from then on, while ZooKeeper ends it after once its time and a tick. Those that go on (`obeys=neither`)
//! overlap for as long as they work. A holder that stands still notices nothing.
//!
//! A thread acquires once more what it holds: its client counts, and asks no member. It does so also when the session that held the node is over.
//! *Source:* `InterProcessMutex.java`, `LockInternals.java`, `ConnectionStateManager.java` of Curator 5; Curator's documentation on errors
//! ("it is strongly recommended that you add a ConnectionStateListener and watch for SUSPENDED and LOST state changes").

use picklock_sim::design::Family;
use picklock_sim::param::{Param, Word};
use picklock_sim::params;

use super::queue::{MEMBERS, Obeys, PROTECTED, Rules, SESSION, design};
use crate::client::policy::BELIEF;

/// What a holder stops at.
const OBEYS: Param<Word> = Param {
    name: "obeys",
    domain: Word(&["suspended", "lost", "neither"]),
    default: "suspended",
    doc: "what a holder stops at: the end of its connection, the loss of its session by its own clock or by a member's word, or nothing",
};

/// The family of designs with Curator's mutex.
pub(crate) static FAMILY: Family = Family {
    name: "curator",
    claim: "Curator's InterProcessMutex, whose holder stops when its connection is suspended",
    weakness: "a holder that stands still notices nothing, and nobody makes it stop",
    source: "Curator 5, InterProcessMutex and ConnectionStateManager",
    params: params![BELIEF, OBEYS, MEMBERS, PROTECTED, SESSION],
    build: |args| {
        let obeys = match args.get(OBEYS) {
            "lost" => Obeys::Loss,
            "neither" => Obeys::Nothing,
            _ => Obeys::Suspension,
        };
        design(args, Rules { obeys, fenced: false, reentrant: true })
    },
};
