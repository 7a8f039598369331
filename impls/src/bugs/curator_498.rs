//! CURATOR-498: the node that a client finds again is that of its last session, which is about to end.
//!
//! *Claim:* a protected creation is done once, whatever becomes of its answer.
//! *Mechanism:* when nobody has answered, the client looks for a node with its own mark, and takes it. By then it may have another session: the node that it
//! finds belongs to the last one, which the server still keeps, and goes with that. Another client has the lock then.
//! In both versions a waiter that loses its session begins anew, which Curator's does not (`curator-604`).
//! *Versions:* Curator up to 4.1.0; 4.2.0 compares the sessions and deletes what it finds of an earlier one.
//! *Source:* <https://github.com/apache/curator/issues/1018>, <https://github.com/apache/curator/pull/303>

use picklock_sim::design::Family;
use picklock_sim::params;

use super::curator_mutex::{Rules, design};
use super::version::FIXED;

/// The mutex that takes any node with its mark.
pub(super) static FAMILY: Family = Family {
    name: "curator-498",
    claim: "Curator's mutex: a protected creation finds its own node when nobody has answered",
    weakness: "the node may be that of the client's last session, and go with it",
    source: "Curator up to 4.1.0, https://github.com/apache/curator/issues/1018",
    params: params![FIXED],
    build: |args| design(Rules { adopts: !args.get(FIXED), looks: false, begins_anew: true }),
};
