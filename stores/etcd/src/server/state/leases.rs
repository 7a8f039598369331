//! Leases: which keys they keep, and until when. Only the member that leads lets them run out, by its own monotonic clock.
//!
//! *Source:* etcd's lessor, 3.4 and 3.6.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_model::time::Monotonic;

/// A lease.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    /// The time that it was granted, in seconds.
    pub(crate) ttl: i64,
    /// When it runs out; never, on a member that does not lead.
    pub(crate) expiry: Option<Monotonic>,
    pub(crate) keys: BTreeSet<Vec<u8>>,
}

/// The leases of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    by_id: BTreeMap<i64, Lease>,
    /// True on the member that leads.
    leads: bool,
}

impl Lease {
    pub(crate) fn has_run_out(&self, now: Monotonic) -> bool {
        self.expiry.is_some_and(|expiry| expiry <= now)
    }

    pub(crate) fn length(&self) -> Duration {
        Duration::from_secs(u64::try_from(self.ttl).unwrap_or_default())
    }

    /// The seconds that are left of it, rounded down as etcd does; -1 once it has run out.
    pub(crate) fn left(&self, now: Monotonic) -> i64 {
        match self.expiry {
            Some(expiry) if expiry > now => expiry.since(now).as_secs() as i64,
            Some(_) => -1,
            None => self.ttl,
        }
    }
}

impl Leases {
    pub(crate) fn get(&self, id: i64) -> Option<&Lease> {
        self.by_id.get(&id)
    }

    pub(crate) fn has(&self, id: i64) -> bool {
        self.by_id.contains_key(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = i64> {
        self.by_id.keys().copied()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (i64, &Lease)> {
        self.by_id.iter().map(|(id, lease)| (*id, lease))
    }

    /// Grants a lease of so many seconds. False if there is one of this number.
    pub(crate) fn grant(&mut self, id: i64, ttl: i64, now: Monotonic) -> bool {
        if self.has(id) {
            return false;
        }
        let mut lease = Lease { ttl, expiry: None, keys: BTreeSet::new() };
        lease.expiry = self.leads.then(|| now + lease.length());
        self.by_id.insert(id, lease);
        true
    }

    /// Takes a lease away, with the keys that it keeps.
    pub(crate) fn remove(&mut self, id: i64) -> Option<Lease> {
        self.by_id.remove(&id)
    }

    pub(crate) fn attach(&mut self, id: i64, key: &[u8]) {
        if let Some(lease) = self.by_id.get_mut(&id) {
            lease.keys.insert(key.to_vec());
        }
    }

    pub(crate) fn detach(&mut self, id: i64, key: &[u8]) {
        if let Some(lease) = self.by_id.get_mut(&id) {
            lease.keys.remove(key);
        }
    }

    /// Gives a lease its full time once more. The seconds that it has; none if it has run out, or is not there.
    pub(crate) fn renew(&mut self, id: i64, now: Monotonic) -> Option<i64> {
        let lease = self.by_id.get_mut(&id).filter(|lease| !lease.has_run_out(now))?;
        lease.expiry = Some(now + lease.length());
        Some(lease.ttl)
    }

    /// The member leads from now on: every lease gets its full time, and so much more.
    pub(crate) fn lead(&mut self, now: Monotonic, more: Duration) {
        self.leads = true;
        for lease in self.by_id.values_mut() {
            lease.expiry = Some(now + lease.length() + more);
        }
    }

    /// The member does not lead: no lease runs out here.
    pub(crate) fn follow(&mut self) {
        self.leads = false;
        self.by_id.values_mut().for_each(|lease| lease.expiry = None);
    }

    /// The leases that have run out, and how long ago; the longest first that have.
    pub(crate) fn run_out(&self, now: Monotonic) -> Vec<(i64, Duration)> {
        let over = self.all().filter(|(_, lease)| lease.has_run_out(now));
        let mut over: Vec<(Monotonic, i64)> =
            over.filter_map(|(id, lease)| Some((lease.expiry?, id))).collect();
        over.sort_unstable();
        over.into_iter().map(|(expiry, id)| (id, now.since(expiry))).collect()
    }
}
