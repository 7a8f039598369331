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

    /// The seconds that are left of it, without their fraction; below 0 if it ran out a second ago and nobody has ended it.
    pub(crate) fn left(&self, now: Monotonic) -> i64 {
        match self.expiry {
            Some(expiry) if expiry > now => expiry.since(now).as_secs() as i64,
            Some(expiry) => -(now.since(expiry).as_secs() as i64),
            None => self.ttl,
        }
    }
}

impl Leases {
    /// True on the member that lets them run out.
    pub(crate) fn are_kept_here(&self) -> bool {
        self.leads
    }

    pub(crate) fn get(&self, id: i64) -> Option<&Lease> {
        self.by_id.get(&id)
    }

    pub(crate) fn has(&self, id: i64) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Their numbers, of the one that runs out first first. On a member that does not lead none runs out.
    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<(Option<Monotonic>, i64)> =
            self.all().map(|(id, lease)| (lease.expiry, id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Monotonic {
        Monotonic::default() + Duration::from_millis(milliseconds)
    }

    /// Leases on a member that leads: number 7 for two seconds.
    fn leading() -> Leases {
        let mut leases = Leases::default();
        leases.lead(at(0), Duration::ZERO);
        assert!(leases.grant(7, 2, at(0)));
        leases
    }

    fn left(leases: &Leases, now: Monotonic) -> Option<i64> {
        leases.get(7).map(|lease| lease.left(now))
    }

    #[test]
    fn a_number_is_given_once() {
        assert!(!leading().grant(7, 5, at(0)));
    }

    #[test]
    fn the_seconds_that_are_left_have_no_fraction() {
        assert_eq!(left(&leading(), at(1)), Some(1));
        assert_eq!(left(&leading(), at(1001)), Some(0));
    }

    #[test]
    fn one_that_has_run_out_a_moment_ago_has_no_second_left() {
        assert_eq!(left(&leading(), at(2300)), Some(0));
        assert_eq!(left(&leading(), at(3300)), Some(-1));
    }

    #[test]
    fn a_renewal_gives_the_full_time() {
        let mut leases = leading();
        assert_eq!(leases.renew(7, at(1900)), Some(2));
        assert!(leases.run_out(at(3899)).is_empty());
        assert_eq!(leases.run_out(at(3900)).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn one_that_has_run_out_is_not_renewed() {
        assert_eq!(leading().renew(7, at(2000)), None);
    }

    #[test]
    fn a_new_leader_gives_the_full_time_and_more() {
        let mut leases = leading();
        leases.lead(at(1500), Duration::from_secs(1));
        assert!(leases.run_out(at(4499)).is_empty());
        assert_eq!(leases.run_out(at(4500)).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn none_runs_out_on_a_member_that_does_not_lead() {
        let mut leases = leading();
        leases.follow();
        assert!(leases.run_out(at(60_000)).is_empty());
    }

    #[test]
    fn they_are_listed_in_the_order_of_their_ends() {
        let mut leases = leading();
        leases.grant(3, 9, at(0));
        leases.grant(8, 1, at(0));
        assert_eq!(leases.ids(), [8, 7, 3]);
    }
}
