//! Stores whose members agree among themselves, as a program is given them: real processes, all of them, where a kind has a real server.

use std::fmt;

use picklock_sim::design::Topology;
use picklock_sim::store::{Store, StoreKind};
use picklock_stores::KINDS;

use crate::servers;

/// The most members; more are not recommended.
const MEMBERS_MAX: u32 = 7;

/// One store of several servers.
#[derive(Clone, Copy, Debug)]
pub struct Ensemble {
    kind: &'static StoreKind,
    members: u32,
}

impl Ensemble {
    /// The kinds of stores that have ensembles.
    pub(crate) fn kinds() -> impl Iterator<Item = &'static StoreKind> {
        KINDS.iter().copied().filter(|kind| kind.ensemble.is_some())
    }

    /// The kind that the first part of a topology names: `cluster` is short for `redis-cluster`.
    pub(crate) fn kind(name: &str) -> Option<&'static StoreKind> {
        let named = |kind: &&StoreKind| kind.name == name || kind.name.strip_prefix("redis-") == Some(name);
        Ensemble::kinds().find(named)
    }

    /// The spellings of an ensemble, for messages: `one:N` or `other:N`, in backquotes.
    pub(crate) fn forms() -> String {
        let forms: Vec<String> = Ensemble::kinds().map(|kind| format!("`{}:N`", kind.name)).collect();
        forms.join(" or ")
    }

    /// The one that a topology such as `etcd:3` names, by its two parts.
    pub(crate) fn read(name: &str, members: &str) -> Option<Ensemble> {
        let members = members.parse().ok().filter(|members| (1..=MEMBERS_MAX).contains(members))?;
        Ensemble::kind(name).map(|kind| Ensemble { kind, members })
    }

    /// Its one store.
    pub(crate) fn store(self) -> (Topology, Store) {
        let ensemble = self.kind.ensemble.expect("the kind was chosen by it");
        let store = ensemble(self.members);
        let topology = Topology { stores: 1, replicated: store.spec.replicates() };
        let store = if self.kind.real.is_some() { servers::real(store.spec, None) } else { store };
        (topology, store)
    }
}

impl PartialEq for Ensemble {
    fn eq(&self, other: &Ensemble) -> bool {
        (self.kind.name, self.members) == (other.kind.name, other.members)
    }
}

impl Eq for Ensemble {}

impl fmt::Display for Ensemble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name, self.members)
    }
}
