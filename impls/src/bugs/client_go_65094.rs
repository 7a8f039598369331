//! client-go, Kubernetes #65094: a leader whose request hangs leads on past its deadline.
//!
//! *Claim:* a leader that cannot renew for `RenewDeadline` stops, before others may take the lease.
//! *Mechanism:* `wait.Poll` looks at the deadline between two tries, and a request has no timeout. A leader that is cut off waits for its answer, for as long as
//! TCP does, and is not notified that it leads no more.
//! *Versions:* client-go up to 8.0 (Kubernetes 1.11); since then the deadline also ends a try, and requests have a timeout. Neither releases the lease when it stops:
//! `ReleaseOnCancel` came later.
//! *Source:* <https://github.com/kubernetes/kubernetes/pull/65094>, issues 65090 and 65257; `tools/leaderelection/leaderelection.go`

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use crate::client::policy::Policy;
use crate::kubernetes::elector::Release;
use crate::kubernetes::lease_object::{Rules, design};

/// The deadline that does not end a try.
pub(super) static FAMILY: Family = Family {
    name: "client-go-65094",
    claim: "Kubernetes' leader election: a leader that cannot renew stops before others may take the lease",
    weakness: "the deadline is looked at between tries, and a try takes as long as its request hangs",
    source: "client-go up to 8.0, https://github.com/kubernetes/kubernetes/pull/65094",
    params: params![FIXED],
    build: |args| {
        let bounds_tries = args.get(FIXED);
        design(3, Rules { release: Release::Not, bounds_tries, ..Rules::CLIENT_GO }, Policy::of(args))
    },
};
