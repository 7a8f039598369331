//! etcd #19597: a candidate leads although its lease has run out.
//!
//! *Claim:* clientv3's election: Campaign returns once its caller leads.
//! *Mechanism:* Campaign waits until the older keys are gone. A candidate that stood still for longer than its lease has no key by then,
//! and leads beside whoever has one.
//! *Versions:* all; open upstream. The fixed version is our own: it looks at its key once the turn has come, as the mutex does since 3.5.0.
//! *Source:* <https://github.com/etcd-io/etcd/issues/19597>

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use crate::etcd::queue::{Rules, design};

/// The election without a second look.
pub(super) static FAMILY: Family = Family {
    name: "etcd-19597",
    claim: "clientv3's election: Campaign returns once its caller leads",
    weakness: "nobody looks whether the candidate's own key is still there",
    source: "etcd, all versions, https://github.com/etcd-io/etcd/issues/19597",
    params: params![FIXED],
    build: |args| design(args, Rules { looks_again: args.get(FIXED), ..Rules::ELECTION }),
};
