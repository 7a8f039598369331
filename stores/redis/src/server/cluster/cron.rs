//! The beat of a node's part in a cluster, and what it sends (`clusterCron`).

use super::act::Act;
use super::ids::{BusLink, NodeId};
use super::message::{Body, Gossip, Header, Message};
use super::peer::Peer;
use super::state::{Cluster, Linked, PING_EVERY};

/// A node pings one of so many others, drawn at random.
const CANDIDATES: usize = 5;

/// A ping speaks of a tenth of the nodes, and of no fewer than this.
const GOSSIP_MIN: usize = 3;

/// A primary has to be without replicas for so long until one of another primary comes.
const MOVE_DELAY: i64 = 5_000;

impl Cluster {
    /// What a node does ten times a second.
    pub(crate) fn beat(&mut self) {
        self.iteration += 1;
        let ids: Vec<NodeId> = self.peers.keys().copied().filter(|id| *id != self.me).collect();
        self.suspected = self.peers.values().filter(|peer| peer.is_suspected).count();
        for id in &ids {
            self.connect_if_needed(*id);
        }
        if self.iteration.is_multiple_of(PING_EVERY) {
            self.ping_one();
        }
        let mut changed = false;
        for id in ids {
            changed |= self.look_after(id);
        }
        if self.manual.end != 0 && self.manual.end < self.now() {
            self.log("Manual failover timed out.".to_owned());
            self.end_manual();
        }
        if self.is_replica() {
            self.go_on_by_hand();
            self.stand_for_election();
            self.move_to_orphan();
        }
        if changed || !self.is_up {
            self.look_at_state();
        }
    }

    fn connect_if_needed(&mut self, id: NodeId) {
        let now = self.now();
        let Some(peer) = self.peers.get(&id).filter(|peer| peer.link.is_none()) else { return };
        let host = peer.place.host.clone();
        let link = self.next_link();
        self.links.insert(link, Linked { with: Some(id), inbound: false, since: now });
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.link = Some((link, now));
        }
        self.act(Act::Connect { link, host });
    }

    /// A link is there that this node has asked for.
    pub(crate) fn connected(&mut self, link: BusLink) {
        let Some(&Linked { with: Some(id), inbound: false, .. }) = self.links.get(&link) else { return };
        let before = self.peers.get(&id).map_or(0, |peer| peer.ping_sent);
        self.ping(link, Some(id));
        if let Some(peer) = self.peers.get_mut(&id).filter(|_| before != 0) {
            peer.ping_sent = before;
        }
    }

    /// A link has broken.
    pub(crate) fn lost(&mut self, link: BusLink) {
        let Some(Linked { with: id, inbound, .. }) = self.links.remove(&link) else { return };
        let peer = id.filter(|_| !inbound).and_then(|id| self.peers.get_mut(&id));
        if let Some(peer) = peer.filter(|peer| peer.link.is_some_and(|(of_peer, _)| of_peer == link)) {
            peer.link = None;
        }
    }

    pub(super) fn drop_link(&mut self, id: NodeId) {
        let link = self.peers.get_mut(&id).and_then(|peer| peer.link.take());
        if let Some((link, _)) = link {
            self.links.remove(&link);
            self.act(Act::Close { link });
        }
    }

    /// Pings the one of a few nodes that has been silent for longest.
    fn ping_one(&mut self) {
        let mut silent: Option<(i64, NodeId, BusLink)> = None;
        for _ in 0..CANDIDATES {
            let id = self.draw();
            let Some(peer) = self.peers.get(&id).filter(|peer| peer.ping_sent == 0) else { continue };
            let Some((link, _)) = peer.link else { continue };
            if silent.is_none_or(|(since, ..)| since > peer.pong_received) {
                silent = Some((peer.pong_received, id, link));
            }
        }
        if let Some((_, id, link)) = silent {
            self.ping(link, Some(id));
        }
    }

    /// Any node, this one included.
    fn draw(&mut self) -> NodeId {
        let nth = self.random.below(self.peers.len() as u64);
        let nth = usize::try_from(nth).unwrap_or(0);
        self.peers.keys().nth(nth).copied().unwrap_or(self.me)
    }

    /// Looks whether a node answers. True if it is suspected from now on.
    fn look_after(&mut self, id: NodeId) -> bool {
        let (now, timeout) = (self.now(), self.settings.node_timeout);
        let Some(peer) = self.peers.get(&id) else { return false };
        let (ping_delay, data_delay) = (now - peer.ping_sent, now - peer.data_received);
        let is_stuck = peer.ping_sent != 0 && ping_delay > timeout / 2 && data_delay > timeout / 2;
        if is_stuck && peer.link.is_some_and(|(_, since)| now - since > timeout) {
            self.drop_link(id);
        }
        let Some(peer) = self.peers.get(&id) else { return false };
        if let Some((link, _)) = peer.link {
            let is_due = peer.ping_sent == 0 && now - peer.pong_received > timeout / 2;
            let takes_over = self.is_making_way() && self.manual.replica == Some(id);
            if is_due || takes_over {
                self.ping(link, Some(id));
                return false;
            }
        }
        if peer.ping_sent == 0 || ping_delay.min(data_delay) <= timeout || peer.is_suspected || peer.is_failed
        {
            return false;
        }
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.is_suspected = true;
        }
        self.log(format!("*** NODE {id} possibly failing"));
        true
    }

    /// A replica of a primary that has several goes to one that has lost its own.
    fn move_to_orphan(&mut self) {
        let now = self.now();
        if !self.settings.replicas_move || !self.is_up {
            return;
        }
        let working = |of: NodeId| self.replicas_of(of).filter(|(_, peer)| !peer.is_failed).count();
        let counts: Vec<(NodeId, usize)> = (self.peers.iter())
            .filter(|(_, peer)| !peer.is_replica && !peer.is_failed)
            .map(|(id, _)| (*id, working(*id)))
            .collect();
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let Some(primary) = self.myself().primary else { return };
        let mine = self.replicas_of(primary).filter(|(_, peer)| !peer.is_failed && !peer.is_suspected);
        if most < 2 || mine.count() <= self.settings.barrier {
            return;
        }
        let is_crowded = |id: &NodeId| counts.iter().any(|(primary, count)| primary == id && *count == most);
        let first = self
            .peers
            .iter()
            .find(|(_, peer)| peer.is_replica && peer.primary.as_ref().is_some_and(is_crowded));
        let is_first = first.is_some_and(|(id, _)| *id == self.me);
        let mut target = None;
        for (id, count) in counts {
            let Some(peer) = self.peers.get_mut(&id) else { continue };
            if !peer.takes_replicas || count > 0 {
                peer.orphaned_at = 0;
                continue;
            }
            if peer.orphaned_at == 0 {
                peer.orphaned_at = now;
            }
            if !peer.slots.is_empty() && target.is_none() {
                target = Some((id, peer.orphaned_at));
            }
        }
        if let Some((id, since)) = target.filter(|_| is_first)
            && now - since > MOVE_DELAY
        {
            self.log(format!("Migrating to orphaned master {id}"));
            self.follow(id);
            self.was_changed();
        }
    }

    /// Pings over a link: that of a node, whose answer is awaited then, or one that came in.
    pub(super) fn ping(&mut self, link: BusLink, of: Option<NodeId>) {
        let now = self.now();
        let mut meets = false;
        if let Some(peer) = of.and_then(|id| self.peers.get_mut(&id)) {
            peer.ping_sent = now;
            meets = peer.meets;
        }
        let gossip = self.gossip();
        self.send(link, if meets { Body::Meet(gossip) } else { Body::Ping(gossip) });
    }

    pub(super) fn send_pong(&mut self, link: BusLink) {
        let gossip = self.gossip();
        self.send(link, Body::Pong(gossip));
    }

    /// Sends the state of this node to all others, or to the replicas of its shard.
    pub(crate) fn announce(&mut self, to_replicas: bool) {
        let my_primary = self.myself().primary;
        let is_near = |peer: &Peer| {
            peer.is_replica && peer.primary.is_some_and(|id| id == self.me || Some(id) == my_primary)
        };
        let others =
            self.peers.iter().filter(|(id, peer)| **id != self.me && (!to_replicas || is_near(peer)));
        let links: Vec<BusLink> = others.filter_map(|(_, peer)| peer.link.map(|(link, _)| link)).collect();
        links.into_iter().for_each(|link| self.send_pong(link));
    }

    /// Hands a message to the nodes that may have listeners for it.
    pub(crate) fn spread(&mut self, sharded: bool, channel: &[u8], message: &[u8]) {
        let body = Body::Publish { sharded, channel: channel.to_vec(), message: message.to_vec() };
        if !sharded {
            return self.broadcast(&body);
        }
        let shard = self.myself().primary.unwrap_or(self.me);
        let near = self.peers.iter().filter(|(id, peer)| **id == shard || peer.primary == Some(shard));
        let near: Vec<NodeId> = near.map(|(id, _)| *id).filter(|id| *id != self.me).collect();
        near.into_iter().for_each(|id| self.send_to(id, body.clone()));
    }

    pub(super) fn broadcast(&mut self, body: &Body) {
        let ids: Vec<NodeId> = self.peers.keys().copied().filter(|id| *id != self.me).collect();
        ids.into_iter().for_each(|id| self.send_to(id, body.clone()));
    }

    pub(super) fn send_to(&mut self, id: NodeId, body: Body) {
        if let Some((link, _)) = self.peers.get(&id).and_then(|peer| peer.link) {
            self.send(link, body);
        }
    }

    fn send(&mut self, link: BusLink, body: Body) {
        self.sent[body.kind()] += 1;
        let message = Message { header: self.header(&body), body };
        self.act(Act::Send { link, bytes: message.encode() });
    }

    fn header(&self, body: &Body) -> Header {
        let me = self.myself();
        let shard = me.primary.and_then(|id| self.peers.get(&id)).filter(|_| me.is_replica).unwrap_or(me);
        Header {
            sender: self.me,
            primary: me.primary,
            is_replica: me.is_replica,
            slots: shard.slots.clone(),
            config_epoch: shard.config_epoch,
            current_epoch: self.current_epoch,
            offset: self.local.offset,
            is_paused: self.is_making_way(),
            forces_vote: *body == Body::VoteRequest && self.manual.end != 0,
        }
    }

    /// What a ping says of others: of a few at random, and of all that are suspected.
    fn gossip(&mut self) -> Vec<Gossip> {
        let mut fresh = self.peers.len().saturating_sub(2);
        let wanted = (self.peers.len() / 10).max(GOSSIP_MIN).min(fresh);
        let mut chosen: Vec<NodeId> = Vec::new();
        for _ in 0..wanted * 3 {
            if fresh == 0 || chosen.len() >= wanted {
                break;
            }
            let id = self.draw();
            let Some(peer) = self.peers.get(&id).filter(|peer| !peer.is_suspected) else { continue };
            if id == self.me || chosen.contains(&id) {
                continue;
            }
            fresh -= 1;
            if peer.link.is_some() || !peer.slots.is_empty() {
                chosen.push(id);
            }
        }
        let suspected = self.peers.iter().filter(|(_, peer)| peer.is_suspected).map(|(id, _)| *id);
        chosen.extend(suspected.take(self.suspected));
        let about = |id: &NodeId| {
            let peer = &self.peers[id];
            Gossip {
                about: *id,
                is_replica: peer.is_replica,
                is_suspected: peer.is_suspected,
                is_failed: peer.is_failed,
                pong_received_s: peer.pong_received / 1000,
            }
        };
        chosen.iter().map(about).collect()
    }
}
