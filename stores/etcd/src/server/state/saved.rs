//! The state as bytes: what a snapshot holds. The time that is left of a lease is not in it: only the member that leads knows it.

use picklock_model::time::Monotonic;
use prost::Message;

use super::keys::{Change, Keys};
use super::leases::Leases;
use crate::messages::{EventKind, LeaseGrantRequest, WatchEvent};

#[derive(Clone, PartialEq, Message)]
struct Saved {
    #[prost(int64, tag = "1")]
    revision: i64,
    #[prost(int64, tag = "2")]
    compacted: i64,
    #[prost(message, repeated, tag = "3")]
    events: Vec<WatchEvent>,
    #[prost(message, repeated, tag = "4")]
    leases: Vec<LeaseGrantRequest>,
}

/// The state in bytes.
pub(super) fn written(keys: &Keys, leases: &Leases) -> Vec<u8> {
    let events = keys.since(0).iter().map(|change| change.event.clone()).collect();
    let leases = leases.all().map(|(id, lease)| LeaseGrantRequest { ttl: lease.ttl, id }).collect();
    Saved { revision: keys.revision, compacted: keys.compacted, events, leases }.encode_to_vec()
}

/// The state that bytes hold; none if they cannot be read.
pub(super) fn read(bytes: &[u8]) -> Option<(Keys, Leases)> {
    let saved = Saved::decode(bytes).ok()?;
    let change = |event: WatchEvent| Some(Change { revision: event.kv.as_ref()?.mod_revision, event });
    let changes: Vec<Change> = saved.events.into_iter().filter_map(change).collect();
    let keys = Keys::after(saved.revision, saved.compacted, changes);
    let mut leases = Leases::default();
    for LeaseGrantRequest { ttl, id } in saved.leases {
        leases.grant(id, ttl, Monotonic::default());
    }
    let all = keys.since(0).iter().filter(|change| change.event.kind() == EventKind::Put);
    for kv in all.filter_map(|change| change.event.kv.as_ref()) {
        if keys.get(&kv.key).is_some_and(|now| now.mod_revision == kv.mod_revision) {
            leases.attach(kv.lease, &kv.key);
        }
    }
    Some((keys, leases))
}
