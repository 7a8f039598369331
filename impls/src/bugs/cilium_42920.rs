//! cilium #42920: an operator that has lost the lead works on while it shuts down.
//!
//! *Claim:* one operator works: it leads by a Lease object, and stops when it cannot renew.
//! *Mechanism:* `OnStoppedLeading` asks for an orderly shutdown, whose hooks run one after the other. One that waits for the API server, which cannot be reached,
//! has all others wait: what they are to stop works on beside the next leader.
//! *Versions:* cilium before November 2025; the fixed version exits at once. Without `ReleaseOnCancel`, whose own delay is a weakness of `lease-object`.
//! *Source:* <https://github.com/cilium/cilium/pull/42920>

use std::time::Duration;

use picklock_sim::design::Family;
use picklock_sim::params;

use super::version::FIXED;
use crate::client::policy::Policy;
use crate::kubernetes::elector::Release;
use crate::kubernetes::lease_object::{Rules, design};

/// How long the hooks may take (the stop timeout of pkg/hive).
const STOP_TIMEOUT: Duration = Duration::from_secs(300);

/// The orderly shutdown.
pub(super) static FAMILY: Family = Family {
    name: "cilium-42920",
    claim: "a Lease object, and a leader that shuts down when it has lost it",
    weakness: "its work stops after a hook that waits for the API server",
    source: "cilium before its pull request 42920, https://github.com/cilium/cilium/pull/42920",
    params: params![FIXED],
    build: |args| {
        let lingers = if args.get(FIXED) { Duration::ZERO } else { STOP_TIMEOUT };
        design(3, Rules { release: Release::Not, lingers, ..Rules::CLIENT_GO }, Policy::of(args))
    },
};
