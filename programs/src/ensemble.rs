//! Stores whose members agree among themselves, as a program is given them: real processes, all of them, where a kind has a real server and simulated
//! ones are not asked for.

use std::fmt;

use picklock_sim::design::Topology;
use picklock_sim::store::{Store, StoreKind};
use picklock_stores::KINDS;

use crate::servers;

/// The most members; more are not recommended.
const MEMBERS_MAX: u32 = 7;

/// What stands before the name of a kind for simulated members where there are real ones.
const SIMULATED: &str = "simulated-";

/// One store of several servers.
#[derive(Clone, Copy, Debug)]
pub struct Ensemble {
    kind: &'static StoreKind,
    members: u32,
    /// True if its members are real processes.
    real: bool,
}

impl Ensemble {
    /// The kinds of stores that have ensembles.
    pub(crate) fn kinds() -> impl Iterator<Item = &'static StoreKind> {
        KINDS.iter().copied().filter(|kind| kind.ensemble.is_some())
    }

    /// The usual spellings of an ensemble, for messages: `one:N` or `other:N`, in backquotes.
    pub(crate) fn forms() -> String {
        let forms: Vec<String> = Ensemble::kinds().map(|kind| format!("`{}:N`", kind.name)).collect();
        forms.join(" or ")
    }

    /// The kind that a topology such as `etcd:3` or `simulated-etcd:3` names before the colon, and whether its members are real. `cluster` is short
    /// for `redis-cluster`.
    pub(crate) fn kind(name: &str) -> Option<(&'static StoreKind, bool)> {
        let simulated = name.strip_prefix(SIMULATED);
        let name = simulated.unwrap_or(name);
        let named = |kind: &&StoreKind| kind.name == name || kind.name.strip_prefix("redis-") == Some(name);
        let found = Ensemble::kinds().find(named)?;
        // What has no real servers needs no word for the others.
        let has_real = found.real.is_some();
        (has_real || simulated.is_none()).then_some((found, has_real && simulated.is_none()))
    }

    /// The one that a topology names, by its two parts.
    pub(crate) fn read(name: &str, members: &str) -> Option<Ensemble> {
        let members = members.parse().ok().filter(|members| (1..=MEMBERS_MAX).contains(members))?;
        let (kind, real) = Ensemble::kind(name)?;
        Some(Ensemble { kind, members, real })
    }

    /// Its one store.
    pub(crate) fn store(self) -> (Topology, Store) {
        let ensemble = self.kind.ensemble.expect("the kind was chosen by it");
        let store = ensemble(self.members);
        let topology = Topology { stores: 1, replicated: store.spec.replicates() };
        let store = if self.real { servers::real(store.spec, None) } else { store };
        (topology, store)
    }
}

impl PartialEq for Ensemble {
    fn eq(&self, other: &Ensemble) -> bool {
        (self.kind.name, self.members, self.real) == (other.kind.name, other.members, other.real)
    }
}

impl Eq for Ensemble {}

impl fmt::Display for Ensemble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let simulated = if self.kind.real.is_some() && !self.real { SIMULATED } else { "" };
        write!(f, "{simulated}{}:{}", self.kind.name, self.members)
    }
}
