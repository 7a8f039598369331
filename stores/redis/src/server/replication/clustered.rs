//! The orders of a node's part in a cluster to the node: to follow another primary, to be one, to drop what is another one's.

use picklock_model::time::WallTime;
use picklock_model::trace::What;

use crate::server::cluster::{Act, Cluster, Local, NodeId};
use crate::server::node::{LinkState, Node, Pause};
use crate::server::store::{Access, Effects};
use crate::server::version::Version;

impl Node {
    /// What this node says of itself in the cluster.
    pub(crate) fn local(&self) -> Local {
        let now = self.store.now_ms();
        let offset = self.replication.history.offset();
        let Some(up) = self.upstream() else { return Local { now, offset, data_age: 0 } };
        let linked = up.link == LinkState::Up;
        let since_s = if linked { Some(up.heard_s) } else { up.down_since_s };
        Local {
            now,
            offset: if linked || up.resumable { offset } else { 0 },
            // A replica that never had its primary is without it since ever.
            data_age: since_s.map_or(i64::MAX / 4, |since_s| (self.now_s() - since_s).saturating_mul(1000)),
        }
    }

    /// Has the node's part in the cluster do something when the wall clock shows `now`.
    pub(crate) fn in_cluster(&mut self, now: WallTime, does: impl FnOnce(&mut Cluster)) -> Effects {
        self.at(now);
        let local = self.local();
        if let Some(cluster) = self.cluster.as_deref_mut() {
            cluster.at(local);
            does(cluster);
        }
        self.settle_cluster();
        self.tend_slots();
        self.serve_ready();
        self.end_turn();
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        effects
    }

    /// Does what the node's part in the cluster wants done, as far as it is about the node; the rest is left for the server.
    pub(crate) fn settle_cluster(&mut self) {
        let local = self.local();
        let Some(cluster) = self.cluster.as_deref_mut() else { return };
        cluster.at(local);
        cluster.before_sleep();
        for act in cluster.take_acts() {
            match act {
                Act::Follow(primary) => {
                    self.give_up_slots();
                    self.follow_in_cluster(primary);
                }
                Act::Promote => _ = self.promote(),
                Act::DropKeys(slot) => self.drop_keys(slot),
                Act::DropChannels(slot) => self.drop_channels(slot),
                Act::Publish { sharded, channel, message } => _ = self.spread(&channel, &message, sharded),
                Act::Pause(until) => self.pause_for_failover(until),
                Act::Log(text) => self.store.effects.events.push(What::Noticed { text }),
                act @ (Act::Connect { .. } | Act::Send { .. } | Act::Close { .. }) => self.bus.push(act),
            }
        }
    }

    fn follow_in_cluster(&mut self, primary: NodeId) {
        let place = self.cluster.as_ref().and_then(|cluster| cluster.peers.get(&primary));
        let Some(place) = place.map(|peer| peer.place.clone()) else { return };
        let follows = |up: &crate::server::node::Upstream| up.host == place.address && up.port == place.port;
        if !self.upstream().is_some_and(follows) {
            self.follow(place.address, place.port);
        }
    }

    /// Deletes the keys of a slot that another node has now. Before 7.2 nobody hears of it (redis/redis#11084): a replica and the append-only
    /// file keep the keys, and have them again if the slot comes back and the node is lost.
    pub(crate) fn drop_keys(&mut self, slot: u16) {
        let says_so = self.store.version >= Version::V7_2;
        let access = std::mem::replace(&mut self.store.access, Access::Stream);
        self.store.selected = 0;
        for key in self.keys_in(slot, usize::MAX) {
            self.store.remove(&key);
            if says_so {
                self.store.propagate(&[b"DEL", &key]);
                self.store.touched(0, &key);
            }
        }
        self.store.access = access;
        self.digest_changes();
    }

    /// Lets nobody write for some time, or again.
    fn pause_for_failover(&mut self, until: Option<i64>) {
        match until {
            Some(until_ms) => self.pause = Some(Pause { until_ms, all: false }),
            None => self.end_pause(),
        }
    }
}
