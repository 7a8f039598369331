//! Which values are locks, for the trace: objects that name their holder and for how long it holds, which another service keeps in this store, such
//! as Kubernetes' leases.
//!
//! That the lease of such an object is over is judged by its clients alone, each by its own clock. What is reported here is over by the member's
//! clock, so long after the change; and by somebody who takes the place of another one before.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::ids::{Key, Origin};
use picklock_model::time::{Monotonic, nanos};
use picklock_model::trace::What;
use picklock_sim::host::Host;

use crate::messages::{EventKind, WatchEvent};

/// The lock that a key with this value is, and who holds it for how long; none if it is no lock.
pub type HolderOf = fn(key: &[u8], value: &[u8]) -> Option<(Key, Option<(String, Duration)>)>;

/// The objects of a store, as far as somebody holds them.
#[derive(Default)]
pub(crate) struct Objects {
    holder_of: Option<HolderOf>,
    held: BTreeMap<Vec<u8>, Held>,
}

#[derive(Clone)]
struct Held {
    key: Key,
    holder: String,
    until: Monotonic,
}

impl Objects {
    pub(crate) fn new(holder_of: Option<HolderOf>) -> Objects {
        Objects { holder_of, held: BTreeMap::new() }
    }

    /// What these changes mean for locks, which a message has brought about.
    pub(super) fn after(
        &mut self,
        host: &Host,
        changes: &[WatchEvent],
        origin: Origin,
    ) -> Vec<(Origin, What)> {
        let Some(holder_of) = self.holder_of else { return Vec::new() };
        let now = host.monotonic();
        let mut said = self.run_out(now);
        for kv in changes.iter().filter_map(|event| Some((event.kind(), event.kv.as_ref()?))) {
            let (kind, kv) = kv;
            let named = if kind == EventKind::Put { holder_of(&kv.key, &kv.value) } else { None };
            let next = named.and_then(|(key, holder)| {
                let (holder, time) = holder?;
                Some(Held { key, holder, until: now + time })
            });
            let before = match &next {
                Some(next) => self.held.insert(kv.key.clone(), next.clone()),
                None => self.held.remove(&kv.key),
            };
            let what = match (before, next) {
                (None, None) => continue,
                (None, Some(next)) => What::Created { key: next.key },
                (Some(before), None) => What::Deleted { key: before.key },
                (Some(before), Some(next)) if before.holder == next.holder => {
                    What::Extended { key: next.key }
                }
                (Some(before), Some(next)) => {
                    said.push((Origin::default(), What::Expired { key: before.key, overdue_ns: 0 }));
                    What::Created { key: next.key }
                }
            };
            said.push((origin, what));
        }
        said
    }

    /// The leases that are over by now.
    pub(crate) fn run_out(&mut self, now: Monotonic) -> Vec<(Origin, What)> {
        let over = self.held.extract_if(.., |_, held| held.until <= now);
        let over = over.map(|(_, held)| {
            let overdue_ns = nanos(now.since(held.until));
            (Origin::default(), What::Expired { key: held.key, overdue_ns })
        });
        over.collect()
    }
}
