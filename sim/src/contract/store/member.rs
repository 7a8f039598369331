//! The hosts of stores: how many there are, what each is for, and where clients find them.

use picklock_model::trace::Role;

/// One host of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its host's name.
    pub name: String,
    /// The store that it belongs to, counted from 1.
    pub store: u32,
    /// The group that has a leader of its own, by a number of the kind's; the store's own number where a store is one group. A
    /// cluster has a group for each shard.
    pub group: u32,
    /// Its role.
    pub role: Role,
    /// Where others reach it, if not by its name: a served member, by its door.
    pub door: Option<(String, u16)>,
}

impl Member {
    /// A member that others reach by its name.
    #[must_use]
    pub fn new(name: impl Into<String>, store: u32, role: Role) -> Member {
        Member { name: name.into(), store, group: store, role, door: None }
    }

    /// So many hosts for each of so many stores that elect a leader: the first of each leads at the start.
    #[must_use]
    pub fn electing(hosts: u32, stores: u32) -> Vec<Member> {
        let of_store = |store| {
            (1..=hosts).map(move |nth| {
                let role = if nth == 1 { Role::Leader } else { Role::Follower };
                Member::new(format!("node-{nth}"), store, role)
            })
        };
        (1..=stores).flat_map(of_store).collect()
    }

    /// The same member, in this group of its store.
    #[must_use]
    pub fn in_group(mut self, group: u32) -> Member {
        self.group = group;
        self
    }

    /// Where others reach it, as `host` or `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.door.as_ref().map_or_else(|| self.name.clone(), |(host, port)| format!("{host}:{port}"))
    }
}

/// Where a client finds a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAddress {
    /// At this host, always.
    Host(String),
    /// At whichever address one of these hosts names; the first that answers is believed.
    Ask(Vec<String>),
    /// At whichever of these hosts takes writes.
    Among(Vec<String>),
}

/// The servers that a design needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Independent stores.
    pub stores: u32,
    /// True: each store has several members, of which one leads until another one takes its place.
    pub replicated: bool,
}

impl Topology {
    /// `stores` independent stores without replicas.
    #[must_use]
    pub const fn independent(stores: u32) -> Topology {
        Topology { stores, replicated: false }
    }

    /// How many stores are a majority; 0 without stores.
    #[must_use]
    pub const fn quorum(self) -> u32 {
        if self.stores == 0 { 0 } else { self.stores / 2 + 1 }
    }

    /// How many stores a majority can do without.
    #[must_use]
    pub const fn minority(self) -> u32 {
        self.stores - self.quorum()
    }
}
