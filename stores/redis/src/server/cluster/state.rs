//! The state of a node's part in a cluster.

use std::collections::BTreeMap;

use picklock_model::seed::{Seed, Stream};

use super::act::{Act, Local};
use super::ids::{BusLink, NodeId};
use super::message::Body;
use super::peer::{Peer, Place};
use super::slot::Slots;

/// A node pings one of the others, drawn at random among a few, once in so many beats.
pub(super) const PING_EVERY: u64 = 10;

/// The parameters of a node's part in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `cluster-node-timeout`, in milliseconds.
    pub(crate) node_timeout: i64,
    /// `cluster-replica-validity-factor`; 0 without limit.
    pub(crate) validity_factor: i64,
    /// `repl-ping-replica-period`, in seconds.
    pub(crate) ping_period_s: i64,
    /// `cluster-require-full-coverage`.
    pub(crate) full_coverage: bool,
    /// `cluster-allow-reads-when-down`.
    pub(crate) reads_when_down: bool,
    /// `cluster-allow-pubsubshard-when-down`.
    pub(crate) messages_when_down: bool,
    /// `cluster-allow-replica-migration`.
    pub(crate) replicas_move: bool,
    /// `cluster-migration-barrier`.
    pub(crate) barrier: usize,
    /// `cluster-replica-no-failover`.
    pub(crate) no_failover: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            node_timeout: 15_000,
            validity_factor: 10,
            ping_period_s: 10,
            full_coverage: true,
            reads_when_down: false,
            messages_when_down: true,
            replicas_move: true,
            barrier: 1,
            no_failover: false,
        }
    }
}

impl Settings {
    /// Takes up a parameter that was checked, if it is one of clusters.
    pub(crate) fn configure(&mut self, name: &str, value: &str) {
        let (is, number) = (value == "yes", || value.parse().unwrap_or(i64::MAX));
        match name {
            "cluster-node-timeout" => self.node_timeout = number().min(i64::MAX / 16),
            "cluster-replica-validity-factor" => self.validity_factor = number(),
            "repl-ping-replica-period" => self.ping_period_s = number(),
            "cluster-require-full-coverage" => self.full_coverage = is,
            "cluster-allow-reads-when-down" => self.reads_when_down = is,
            "cluster-allow-pubsubshard-when-down" => self.messages_when_down = is,
            "cluster-allow-replica-migration" => self.replicas_move = is,
            "cluster-migration-barrier" => self.barrier = usize::try_from(number()).unwrap_or(0),
            "cluster-replica-no-failover" => self.no_failover = is,
            _ => {}
        }
    }
}

/// The election that a replica wants to win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Election {
    /// When it asks for votes, or has asked.
    pub(super) at: i64,
    pub(super) rank: usize,
    pub(super) votes: usize,
    pub(super) sent: bool,
    pub(super) epoch: u64,
}

/// A failover that somebody has ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manual {
    /// When it is given up; none is under way if 0.
    pub(super) end: i64,
    /// On the primary: the replica that wants to take over.
    pub(super) replica: Option<NodeId>,
    /// On the replica: how much of the stream the primary has that lets nobody write.
    pub(super) primary_offset: Option<u64>,
    /// The replica has all that.
    pub(super) can_start: bool,
}

/// What is left to do before the node sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Todo {
    pub(super) state: bool,
    pub(super) save: bool,
    pub(super) failover: bool,
    pub(super) manual: bool,
}

/// A link between this node and another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linked {
    /// The other node; none is known of a link that has just come in.
    pub(super) with: Option<NodeId>,
    /// The other node has made it.
    pub(super) inbound: bool,
    pub(super) since: i64,
}

/// A node's part in a cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) me: NodeId,
    /// All nodes, this one included.
    pub(crate) peers: BTreeMap<NodeId, Peer>,
    /// Where each node is, whether it is known just now or was forgotten.
    pub(super) places: BTreeMap<NodeId, Place>,
    pub(crate) current_epoch: u64,
    pub(super) last_vote_epoch: u64,
    /// False: no command with keys is executed.
    pub(crate) is_up: bool,
    /// How many primaries have slots.
    pub(crate) size: usize,
    pub(crate) settings: Settings,
    pub(crate) migrating: BTreeMap<u16, NodeId>,
    pub(crate) importing: BTreeMap<u16, NodeId>,
    /// Slots whose owner does not claim them any more.
    pub(super) unclaimed: Slots,
    pub(super) election: Election,
    pub(super) manual: Manual,
    pub(super) todo: Todo,
    /// When the state was first looked at in this life of the node.
    pub(super) began: Option<i64>,
    /// When no majority was last reached.
    pub(super) minority_at: i64,
    pub(super) iteration: u64,
    pub(super) local: Local,
    /// How many nodes are suspected, as of the last beat.
    pub(super) suspected: usize,
    pub(super) links: BTreeMap<BusLink, Linked>,
    pub(super) forgotten: BTreeMap<NodeId, i64>,
    acts: Vec<Act>,
    last_link: u64,
    is_dirty: bool,
    pub(super) random: Stream,
    pub(crate) sent: [u64; Body::KINDS.len()],
    pub(crate) received: [u64; Body::KINDS.len()],
}

impl Cluster {
    /// A node among these: each with its place, its primary if it is a replica, and its slots. They are as those of a cluster are that
    /// was made by `redis-cli --cluster create`: each has an epoch of its own.
    pub(crate) fn new(
        me: NodeId,
        nodes: Vec<(NodeId, Place, Option<NodeId>, Slots)>,
        settings: Settings,
        seed: Seed,
    ) -> Cluster {
        let mut random = seed.stream("cluster");
        let places = nodes.iter().map(|(id, place, ..)| (*id, place.clone())).collect();
        let current_epoch = nodes.len() as u64;
        let mut peers = BTreeMap::new();
        for (nth, (id, place, primary, slots)) in (1..).zip(nodes) {
            let config_epoch = if primary.is_none() { nth } else { 0 };
            let aged = random.below(settings.node_timeout.unsigned_abs() / 2 + 1).cast_signed();
            peers.insert(id, Peer { slots, config_epoch, aged, ..Peer::new(place, primary) });
        }
        let followed: Vec<NodeId> = peers.values().filter_map(|peer| peer.primary).collect();
        for id in followed {
            if let Some(primary) = peers.get_mut(&id) {
                primary.takes_replicas = true;
            }
        }
        let size = peers.values().filter(|peer| peer.votes()).count();
        Cluster {
            me,
            peers,
            places,
            current_epoch,
            last_vote_epoch: 0,
            is_up: true,
            size,
            settings,
            migrating: BTreeMap::new(),
            importing: BTreeMap::new(),
            unclaimed: Slots::default(),
            election: Election::default(),
            manual: Manual::default(),
            todo: Todo { save: true, ..Todo::default() },
            // It has run for a while.
            began: Some(i64::MIN / 2),
            minority_at: 0,
            iteration: random.below(PING_EVERY),
            local: Local::default(),
            suspected: 0,
            links: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            acts: Vec::new(),
            last_link: 0,
            is_dirty: false,
            random,
            sent: [0; Body::KINDS.len()],
            received: [0; Body::KINDS.len()],
        }
    }

    /// Says how the node is at the moment; what is asked next, is asked then.
    pub(crate) fn at(&mut self, local: Local) {
        self.local = local;
    }

    pub(super) fn now(&self) -> i64 {
        self.local.now
    }

    /// This node as it knows itself.
    pub(crate) fn myself(&self) -> &Peer {
        self.peers.get(&self.me).expect("a node never forgets itself")
    }

    pub(super) fn myself_mut(&mut self) -> &mut Peer {
        self.peers.get_mut(&self.me).expect("a node never forgets itself")
    }

    /// True for a replica.
    pub(crate) fn is_replica(&self) -> bool {
        self.myself().is_replica
    }

    /// The node that a slot belongs to.
    pub(crate) fn owner(&self, slot: u16) -> Option<NodeId> {
        self.peers.iter().find(|(_, peer)| peer.slots.contains(slot)).map(|(id, _)| *id)
    }

    /// The replicas of a node, in the order of their names.
    pub(crate) fn replicas_of(&self, id: NodeId) -> impl Iterator<Item = (&NodeId, &Peer)> {
        self.peers.iter().filter(move |(_, peer)| peer.is_replica && peer.primary == Some(id))
    }

    /// The highest epoch that is known.
    pub(super) fn highest_epoch(&self) -> u64 {
        let configs = self.peers.values().map(|peer| peer.config_epoch);
        configs.max().unwrap_or(0).max(self.current_epoch)
    }

    /// The links with nodes that are known, in the order of their names: whether the other one has made it, and since when it is there.
    pub(crate) fn links(&self) -> Vec<(NodeId, bool, i64)> {
        let of = |id: NodeId, inbound| {
            let mut links = self.links.values();
            links.rfind(|link| link.with == Some(id) && link.inbound == inbound)
        };
        let both = self.peers.keys().flat_map(|id| [(*id, false), (*id, true)]);
        both.filter_map(|(id, inbound)| Some((id, inbound, of(id, inbound)?.since))).collect()
    }

    /// Takes an epoch of its own without asking anybody. False if it has the highest already.
    pub(crate) fn bump_epoch(&mut self) -> bool {
        let (mine, highest) = (self.myself().config_epoch, self.highest_epoch());
        if mine != 0 && mine == highest {
            return false;
        }
        self.current_epoch += 1;
        self.myself_mut().config_epoch = self.current_epoch;
        self.todo.save = true;
        true
    }

    /// The acts that it asks for since the last call, in order.
    pub(crate) fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    pub(super) fn act(&mut self, act: Act) {
        self.acts.push(act);
    }

    pub(super) fn log(&mut self, text: String) {
        self.acts.push(Act::Log(text));
    }

    /// True if the file is out of date; from now on it counts as up to date.
    pub(crate) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.is_dirty)
    }

    /// The file is to be written.
    pub(crate) fn save(&mut self) {
        self.is_dirty = true;
    }

    /// The configuration was changed by hand.
    pub(crate) fn was_changed(&mut self) {
        self.todo.state = true;
        self.todo.save = true;
    }

    /// Does what is left to do before the node sleeps.
    pub(crate) fn before_sleep(&mut self) {
        let todo = std::mem::take(&mut self.todo);
        if todo.manual {
            if self.is_replica() {
                self.go_on_by_hand();
                self.stand_for_election();
            }
        } else if todo.failover {
            self.stand_for_election();
        }
        if todo.state {
            self.look_at_state();
        }
        if todo.save {
            self.save();
        }
    }

    /// A new name for a link.
    pub(super) fn next_link(&mut self) -> BusLink {
        self.last_link += 1;
        BusLink(self.last_link)
    }

    /// Forgets a node, and does not take it up again by hearsay for a minute.
    pub(crate) fn forget(&mut self, id: NodeId) {
        self.drop_link(id);
        self.peers.remove(&id);
        self.migrating.retain(|_, to| *to != id);
        self.importing.retain(|_, from| *from != id);
        for peer in self.peers.values_mut() {
            peer.reports.remove(&id);
            peer.primary = peer.primary.filter(|primary| *primary != id);
        }
        let until = self.now() + FORGOTTEN_MS;
        self.forgotten.insert(id, until);
        self.was_changed();
    }
}

/// For how long a node that was forgotten is not taken up again by hearsay.
const FORGOTTEN_MS: i64 = 60_000;
