//! Stores whose members agree among themselves, as a program is given them: real processes, all of them.

use std::fmt;

use picklock_etcd::Etcd;
use picklock_model::trace::Role;
use picklock_sim::design::{Design, Topology};
use picklock_sim::store::{StoreAddress, StoreKind};
use picklock_zookeeper::ZooKeeper;

use crate::servers;

/// The most members; more are not recommended.
const MEMBERS_MAX: u32 = 7;

/// One store of several real servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensemble {
    /// An etcd of so many members.
    Etcd(u32),
    /// A ZooKeeper of so many members.
    ZooKeeper(u32),
}

impl Ensemble {
    /// What spells one, for messages.
    pub(crate) const MUST: &str = "`etcd:N` or `zookeeper:N` with N from 1 to 7";

    /// The one that a topology such as `etcd:3` names, by its two parts.
    pub(crate) fn read(name: &str, members: &str) -> Option<Ensemble> {
        let members = members.parse().ok().filter(|members| (1..=MEMBERS_MAX).contains(members))?;
        match name {
            "etcd" => Some(Ensemble::Etcd(members)),
            "zookeeper" => Some(Ensemble::ZooKeeper(members)),
            _ => None,
        }
    }

    /// The design on it.
    pub(crate) fn under(self, design: Design) -> Design {
        let topology = |members: u32| Topology { stores: 1, replicated: members > 1 };
        match self {
            Ensemble::Etcd(members) => design.on_stores(topology(members), servers::real(Etcd { members })),
            Ensemble::ZooKeeper(members) => {
                design.on_stores(topology(members), servers::real(ZooKeeper { members }))
            }
        }
    }

    /// Where its members are, as its clients are told.
    pub(crate) fn endpoints(self, stores: &[StoreAddress]) -> String {
        let names = stores.iter().flat_map(|store| match store {
            StoreAddress::Host(name) => std::slice::from_ref(name),
            StoreAddress::Ask(names) => names,
        });
        let url = |kind: &dyn StoreKind, name: &str| kind.url(name, kind.port(Role::Store));
        let urls: Vec<String> = names
            .map(|name| match self {
                Ensemble::Etcd(members) => url(&Etcd { members }, name),
                Ensemble::ZooKeeper(members) => url(&ZooKeeper { members }, name),
            })
            .collect();
        urls.join(",")
    }
}

impl fmt::Display for Ensemble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ensemble::Etcd(members) => write!(f, "etcd:{members}"),
            Ensemble::ZooKeeper(members) => write!(f, "zookeeper:{members}"),
        }
    }
}
