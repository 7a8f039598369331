//! etcd's election as a lock: whoever has the oldest key below the name leads.
//!
//! *Claim:* one leader at a time; a resignation deletes only the key that its leader has made.
//! *Weakness:* a candidate whose own key is gone by the time that its turn comes leads all the same: nobody looks again, in no version.
//! *Source:* `client/v3/concurrency/election.go` of etcd 3.6; etcd issue 19597.

use picklock_sim::design::Family;
use picklock_sim::params;

use super::queue::{
    FAILED_TXN, KEEPALIVE, LEFTOVER, MEMBERS, REQUEST_TIMEOUT, Rules, SESSION, VERSION, design,
};
use crate::client::policy::BELIEF;

/// The family of designs with etcd's election.
pub(crate) static FAMILY: Family = Family {
    name: "etcd-election",
    claim: "etcd's election: the oldest key with a lease leads, and a resignation deletes no other",
    weakness: "nobody looks whether the candidate's own key is still there when its turn comes",
    source: "etcd 3.6, client/v3/concurrency/election.go; etcd issue 19597",
    params: params![BELIEF, MEMBERS, VERSION, SESSION, KEEPALIVE, FAILED_TXN, LEFTOVER, REQUEST_TIMEOUT],
    build: |args| design(args, Rules::ELECTION),
};
