//! etcd #22082: an Unlock that is asked for again deletes a later lock of the same session.
//!
//! *Claim:* clientv3's mutex: Unlock gives back what was locked.
//! *Mechanism:* the key of a lock is named by the lock and the lease, so a session's next lock of the same name has the same key. A caller that
//! got no answer to its Unlock asks again in the background, has the lock anew meanwhile, and deletes it.
//! *Versions:* all; open upstream. The fixed version is our own: it deletes the key only at the revision at which it was made, as the
//! election's Resign does.
//! *Source:* <https://github.com/etcd-io/etcd/issues/22082>

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use crate::etcd::queue::{Rules, design};

/// The release by name, asked for again.
pub(super) static FAMILY: Family = Family {
    name: "etcd-22082",
    claim: "clientv3's mutex in a session that is shared, and an Unlock that is repeated until it is answered",
    weakness: "Unlock deletes by name: the repeated one deletes the lock that the session has by then",
    source: "etcd, all versions, https://github.com/etcd-io/etcd/issues/22082",
    params: params![FIXED],
    build: |args| {
        design(args, Rules { checks_release: args.get(FIXED), repeats_release: true, ..Rules::MUTEX })
    },
};
