//! Which keys are locks, for the trace: of the keys below one prefix that hang on a lease, the one that was made first holds the lock of the
//! prefix's name. That is how etcd's clients lock and elect: each makes `name/lease`, and waits until those before it are gone.

use std::collections::BTreeMap;

use picklock_model::ids::{Key, Origin};
use picklock_model::trace::What;

use super::keys::Keys;
use super::leases::Lease;
use crate::messages::{EventKind, WatchEvent};
use crate::requests::end_of_prefix;
use crate::server::state::keys::Range;

/// The locks of a store, as far as they are held.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// The key that holds each of them, by prefix.
    held: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The messages that have made the keys.
    made_by: BTreeMap<Vec<u8>, Origin>,
}

/// The prefix of a key, up to its last slash.
fn prefix(key: &[u8]) -> Option<&[u8]> {
    key.iter().rposition(|byte| *byte == b'/').map(|at| &key[..=at])
}

/// The lock of a prefix: its name without the slash.
fn lock(prefix: &[u8]) -> Key {
    Key::new(&String::from_utf8_lossy(prefix.strip_suffix(b"/").unwrap_or(prefix)))
}

impl Locks {
    /// What these changes mean for locks, which a message has brought about, or a lease that has run out so long ago, in nanoseconds.
    pub(crate) fn after(
        &mut self,
        keys: &Keys,
        changes: &[WatchEvent],
        (origin, overdue_ns): (Origin, Option<u64>),
    ) -> Vec<(Origin, What)> {
        let mut touched: Vec<&[u8]> = Vec::new();
        for event in changes {
            let Some(kv) = &event.kv else { continue };
            let Some(prefix) = prefix(&kv.key) else { continue };
            let is_new = event.kind() == EventKind::Put && kv.version == 1 && kv.lease != 0;
            if is_new {
                self.made_by.insert(kv.key.clone(), origin);
            }
            if !touched.contains(&prefix) {
                touched.push(prefix);
            }
        }
        let said = touched.into_iter().flat_map(|prefix| self.look_at(keys, prefix, (origin, overdue_ns)));
        let said: Vec<(Origin, What)> = said.collect::<Vec<_>>();
        self.made_by.retain(|key, _| keys.get(key).is_some());
        said
    }

    /// Who holds the lock of a prefix now, and what has changed by that.
    fn look_at(
        &mut self,
        keys: &Keys,
        prefix: &[u8],
        (origin, overdue_ns): (Origin, Option<u64>),
    ) -> Vec<(Origin, What)> {
        let end = end_of_prefix(prefix);
        let leased = keys.in_range(Range { key: prefix, end: &end }).filter(|kv| kv.lease != 0);
        let first = leased.min_by_key(|kv| kv.create_revision).map(|kv| kv.key.clone());
        let before = self.held.get(prefix);
        if before == first.as_ref() {
            return Vec::new();
        }
        let mut said = Vec::new();
        if before.is_some() {
            let key = lock(prefix);
            said.push(match overdue_ns {
                Some(overdue_ns) => (Origin::default(), What::Expired { key, overdue_ns }),
                None => (origin, What::Deleted { key }),
            });
        }
        match first {
            Some(first) => {
                let by = self.made_by.get(&first).copied().unwrap_or_default();
                said.push((by, What::Created { key: lock(prefix) }));
                self.held.insert(prefix.to_vec(), first);
            }
            None => drop(self.held.remove(prefix)),
        }
        said
    }

    /// The locks that hang on a lease which this message renews, each with in whose service that is: a lease is kept alive for all that hangs on
    /// it, so a renewal by the client that has made a key is in the service of what it has made it for.
    pub(crate) fn of_lease(&self, lease: &Lease, by: Origin) -> Vec<(Origin, Key)> {
        let held = lease.keys.iter().filter_map(|key| {
            let prefix = prefix(key).filter(|prefix| self.held.get(*prefix) == Some(key))?;
            let made = self.made_by.get(key).and_then(|origin| origin.grant);
            let is_own = made.zip(by.grant).is_some_and(|(made, by)| made.client == by.client);
            Some((Origin { grant: if is_own { made } else { by.grant }, ..by }, lock(prefix)))
        });
        held.collect()
    }
}
