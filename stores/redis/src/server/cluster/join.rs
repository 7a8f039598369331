//! Nodes that come to know each other by hand (CLUSTER MEET), and a node that forgets all others (CLUSTER RESET).
//!
//! In Redis a node that is met has a made-up name until it has answered. Here the name that belongs to an address is known from the
//! start, so that a node is known as soon as somebody asks for it.

use super::act::Act;
use super::ids::NodeId;
use super::message::Gossip;
use super::peer::{Peer, Place};
use super::state::Cluster;

impl Cluster {
    /// Gets to know the node at an address: that is asked to take up this one, as soon as there is a link. Nobody may be there. False if it is
    /// no address: neither that of a machine nor the name of a host that is known.
    pub(crate) fn meet(&mut self, address: &str, port: u16) -> bool {
        let is_named = |place: &Place| place.address == address || place.host == address;
        let is_there = |(_, place): &(&NodeId, &Place)| is_named(place) && place.port == port;
        let found = self.places.iter().find(is_there).filter(|(id, _)| !self.peers.contains_key(id));
        if let Some((id, place)) = found {
            let peer = Peer { meets: true, ..Peer::new(place.clone(), None) };
            self.peers.insert(*id, peer);
            self.was_changed();
        }
        address.parse::<std::net::IpAddr>().is_ok() || self.places.values().any(is_named)
    }

    /// A node wants to be taken up, with those that it knows, whether they were forgotten lately or not.
    pub(super) fn was_met(&mut self, by: NodeId, gossip: &[Gossip]) {
        for id in std::iter::once(by).chain(gossip.iter().map(|about| about.about)) {
            let place = self.places.get(&id).filter(|_| !self.peers.contains_key(&id));
            if let Some(place) = place.cloned() {
                self.peers.insert(id, Peer::new(place, None));
                self.was_changed();
            }
        }
    }

    /// Forgets all others and has no slot; with `hard`, no epoch either. A replica becomes a primary. Who listens to the
    /// channels of a slot is sent away, at a replica not.
    pub(crate) fn reset(&mut self, hard: bool) {
        let me = self.me;
        self.make_primary(me);
        self.act(Act::Promote);
        self.migrating.clear();
        self.importing.clear();
        self.end_manual();
        let others: Vec<NodeId> = self.peers.keys().copied().filter(|id| *id != me).collect();
        for id in others {
            self.drop_link(id);
            self.peers.remove(&id);
        }
        let mine: Vec<u16> = self.myself().slots.iter().collect();
        mine.into_iter().for_each(|slot| self.assign(slot, None));
        let myself = self.myself_mut();
        myself.reports.clear();
        if hard {
            myself.config_epoch = 0;
            self.current_epoch = 0;
            self.last_vote_epoch = 0;
        }
        self.was_changed();
    }
}
