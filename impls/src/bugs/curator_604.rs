//! CURATOR-604: a waiter has its turn by the node of its last session.
//!
//! *Claim:* one holder at a time, as long as holders stop and release when their connection is suspended.
//! *Mechanism:* a waiter loses its session and goes on to wait in the next one. Its node is still there, as the server keeps the old session for its time
//! once more after it was down; the holder's is deleted by its release, which was made again. The waiter's node stands first, and nobody looks whose it is:
//! it goes with the old session, and the next one has the lock beside the waiter.
//! *Versions:* all; open upstream. The fixed version is our own: it looks at the owner of its node once its turn has come, as `LeaderLatch` does since 5.7.0
//! (CURATOR-696).
//! *Source:* <https://github.com/apache/curator/issues/1121>

use picklock_sim::design::Family;
use picklock_sim::params;

use super::curator_mutex::{Rules, design};
use super::version::FIXED;

/// The mutex that does not look whose node it is.
pub(super) static FAMILY: Family = Family {
    name: "curator-604",
    claim: "Curator's mutex: the lowest node has the lock",
    weakness: "the node may be that of the client's last session, and go with it",
    source: "Curator, all versions, https://github.com/apache/curator/issues/1121",
    params: params![FIXED],
    build: |args| design(Rules { adopts: false, looks: args.get(FIXED), begins_anew: false }),
};
