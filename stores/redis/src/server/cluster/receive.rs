//! Messages of other nodes, and their effect on this one (`clusterProcessPacket`).

use super::act::Act;
use super::ids::{BusLink, NodeId};
use super::message::{Body, Gossip, Header, Message};
use super::peer::Peer;
use super::slot::Slots;
use super::state::{Cluster, Linked};

/// A node that is found down and answers all the same is so no longer after this many node timeouts, if nobody has taken its slots.
const UNDO_TIMEOUTS: i64 = 2;

/// A time that another node reports may lie so far in the future, in milliseconds.
const FUTURE: i64 = 500;

impl Cluster {
    /// A link that another node has made.
    pub(crate) fn accepted(&mut self) -> BusLink {
        let link = self.next_link();
        self.links.insert(link, Linked { with: None, inbound: true, since: self.now() });
        link
    }

    /// Understands a message that came over a link.
    pub(crate) fn receive(&mut self, link: BusLink, message: Message) {
        let Some(linked) = self.links.get(&link).copied() else { return };
        let Message { header, body } = message;
        self.received[body.kind()] += 1;
        let sender = linked.with.or_else(|| self.peers.contains_key(&header.sender).then_some(header.sender));
        if linked.with.is_none() {
            self.links.insert(link, Linked { with: sender, ..linked });
        }
        if let Some(sender) = sender {
            self.hear_of(sender, &header);
        }
        match body {
            Body::Ping(gossip) => {
                self.send_pong(link);
                self.configure(link, sender, &header, &gossip, false);
            }
            Body::Meet(gossip) => {
                if sender.is_none() {
                    self.was_met(header.sender, &gossip);
                }
                self.send_pong(link);
                self.configure(link, sender, &header, &gossip, false);
            }
            Body::Pong(gossip) => self.configure(link, sender, &header, &gossip, true),
            other => {
                let Some(sender) = sender else { return };
                self.act_on(link, sender, &header, other);
            }
        }
    }

    /// Takes up what stands in the header of each message.
    fn hear_of(&mut self, sender: NodeId, header: &Header) {
        let now = self.now();
        self.current_epoch = self.current_epoch.max(header.current_epoch);
        let waits_for_offset = self.manual.end != 0
            && self.is_replica()
            && self.myself().primary == Some(sender)
            && header.is_paused
            && self.manual.primary_offset.is_none();
        let Some(peer) = self.peers.get_mut(&sender) else { return };
        peer.data_received = now;
        peer.offset = header.offset;
        if header.config_epoch > peer.config_epoch {
            peer.config_epoch = header.config_epoch;
            self.todo.save = true;
        }
        if waits_for_offset {
            self.manual.primary_offset = Some(header.offset);
            self.todo.manual = true;
            self.log(format!(
                "Received replication offset for paused master manual failover: {}",
                header.offset
            ));
        }
    }

    /// Takes up a ping or a pong.
    fn configure(
        &mut self,
        link: BusLink,
        sender: Option<NodeId>,
        header: &Header,
        gossip: &[Gossip],
        is_pong: bool,
    ) {
        let inbound = self.links.get(&link).is_none_or(|linked| linked.inbound);
        if let (true, false, Some(of_link)) = (is_pong, inbound, sender) {
            self.answered(of_link);
        }
        let Some(sender) = sender else { return };
        self.take_up_role(sender, header);
        let Some(peer) = self.peers.get(&sender) else { return };
        let owner = if peer.is_replica { peer.primary } else { Some(sender) };
        let differs = owner.and_then(|id| self.peers.get(&id)).is_some_and(|peer| peer.slots != header.slots);
        let is_primary = !peer.is_replica;
        if is_primary && differs {
            self.take_up_slots(sender, header.config_epoch, &header.slots);
        }
        if differs {
            self.correct(sender, header);
        }
        if !self.is_replica() && is_primary && header.config_epoch == self.myself().config_epoch {
            self.part_epochs(sender);
        }
        self.take_up_gossip(sender, gossip);
    }

    /// A node has answered a ping.
    fn answered(&mut self, id: NodeId) {
        let (now, timeout) = (self.now(), self.settings.node_timeout);
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.pong_received = now - std::mem::take(&mut peer.aged);
        peer.ping_sent = 0;
        peer.meets = false;
        if peer.is_suspected {
            peer.is_suspected = false;
            self.was_changed();
            return;
        }
        if peer.is_failed {
            let has_no_slots = peer.is_replica || peer.slots.is_empty();
            let is_old = now - peer.failed_at > timeout * UNDO_TIMEOUTS;
            if has_no_slots || is_old {
                peer.is_failed = false;
                self.log(format!("Clear FAIL state for node {id}: it is reachable again."));
                self.was_changed();
            }
        }
    }

    /// A node that was a replica is a primary, or the other way round, or follows another primary.
    fn take_up_role(&mut self, sender: NodeId, header: &Header) {
        let Some(primary) = header.primary else {
            return self.make_primary(sender);
        };
        let is_known = self.peers.contains_key(&primary);
        let Some(peer) = self.peers.get_mut(&sender) else { return };
        let mut changed = false;
        if !peer.is_replica {
            peer.is_replica = true;
            peer.takes_replicas = false;
            let slots = std::mem::take(&mut peer.slots);
            for slot in slots.iter() {
                if self.myself().primary == Some(sender) {
                    self.act(Act::DropChannels(slot));
                }
            }
            changed = true;
        }
        let Some(peer) = self.peers.get_mut(&sender) else { return };
        if is_known && peer.primary != Some(primary) {
            peer.primary = Some(primary);
            if let Some(primary) = self.peers.get_mut(&primary) {
                primary.takes_replicas = true;
            }
            self.todo.save = true;
        }
        if changed {
            self.was_changed();
        }
    }

    /// Informs a node that claims slots under an old epoch of who has them now.
    fn correct(&mut self, sender: NodeId, header: &Header) {
        let newer = header.slots.iter().find_map(|slot| {
            let owner = self.owner(slot).filter(|owner| *owner != sender)?;
            let is_newer = self.peers[&owner].config_epoch > header.config_epoch;
            (is_newer && !self.unclaimed.contains(slot)).then_some(owner)
        });
        if let Some(owner) = newer {
            let Peer { config_epoch, slots, .. } = &self.peers[&owner];
            let body = Body::Update { about: owner, config_epoch: *config_epoch, slots: slots.clone() };
            self.send_to(sender, body);
        }
    }

    /// Two primaries with one epoch: the one with the smaller name takes another one.
    fn part_epochs(&mut self, sender: NodeId) {
        if sender <= self.me {
            return;
        }
        self.current_epoch += 1;
        self.myself_mut().config_epoch = self.current_epoch;
        self.todo.save = true;
        let epoch = self.current_epoch;
        self.log(format!("WARNING: configEpoch collision with node {sender}. configEpoch set to {epoch}"));
    }

    fn take_up_gossip(&mut self, sender: NodeId, gossip: &[Gossip]) {
        let now = self.now();
        for about in gossip {
            let is_down = about.is_suspected || about.is_failed;
            let reporter_votes = self.peers.get(&sender).is_some_and(|peer| !peer.is_replica);
            let me = self.me;
            let timeout = self.settings.node_timeout;
            let Some(peer) = self.peers.get_mut(&about.about) else {
                self.meet_by_hearsay(about);
                continue;
            };
            if reporter_votes && about.about != me {
                if is_down {
                    peer.reports.insert(sender, now);
                    self.mark_failed_if_agreed(about.about);
                } else if peer.reports.remove(&sender).is_some() {
                    forget_old_reports(peer, now, timeout);
                }
            }
            let Some(peer) = self.peers.get_mut(&about.about) else { continue };
            if !is_down && peer.ping_sent == 0 {
                forget_old_reports(peer, now, timeout);
                let heard = about.pong_received_s * 1000;
                if peer.reports.is_empty() && heard <= now + FUTURE && heard > peer.pong_received {
                    peer.pong_received = heard;
                }
            }
        }
    }

    /// Takes up a node that another one knows.
    fn meet_by_hearsay(&mut self, about: &Gossip) {
        let now = self.now();
        self.forgotten.retain(|_, until| *until > now);
        let Some(place) = self.places.get(&about.about) else { return };
        if self.forgotten.contains_key(&about.about) {
            return;
        }
        let peer = Peer { is_replica: about.is_replica, ..Peer::new(place.clone(), None) };
        self.peers.insert(about.about, peer);
    }

    /// A node is down if a majority of primaries says so lately.
    fn mark_failed_if_agreed(&mut self, id: NodeId) {
        let (now, quorum, me_votes) = (self.now(), self.quorum(), !self.is_replica());
        let timeout = self.settings.node_timeout;
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if !peer.is_suspected || peer.is_failed {
            return;
        }
        forget_old_reports(peer, now, timeout);
        if peer.reports.len() + usize::from(me_votes) < quorum {
            return;
        }
        peer.is_suspected = false;
        peer.is_failed = true;
        peer.failed_at = now;
        self.log(format!("Marking node {id} as failing (quorum reached)."));
        self.broadcast(&Body::Fail(id));
        self.was_changed();
    }

    /// Acts on a message that is neither a ping nor a pong.
    fn act_on(&mut self, link: BusLink, sender: NodeId, header: &Header, body: Body) {
        let now = self.now();
        match body {
            Body::Fail(about) => {
                let me = self.me;
                let peer = self.peers.get_mut(&about).filter(|peer| about != me && !peer.is_failed);
                if let Some(peer) = peer {
                    peer.is_failed = true;
                    peer.is_suspected = false;
                    peer.failed_at = now;
                    self.log(format!("FAIL message received from {sender} about {about}"));
                    self.was_changed();
                }
            }
            Body::Publish { sharded, channel, message } => {
                self.act(Act::Publish { sharded, channel, message });
            }
            Body::VoteRequest => self.vote(sender, header),
            Body::Vote => {
                let votes = self.peers.get(&sender).is_some_and(Peer::votes);
                if votes && header.current_epoch >= self.election.epoch {
                    self.election.votes += 1;
                    self.todo.failover = true;
                }
            }
            Body::ManualFailover => self.make_way(link, sender),
            Body::Update { about, config_epoch, slots } => self.update(about, config_epoch, &slots),
            Body::Ping(_) | Body::Meet(_) | Body::Pong(_) => {}
        }
    }

    fn update(&mut self, about: NodeId, config_epoch: u64, slots: &Slots) {
        if self.peers.get(&about).is_none_or(|peer| peer.config_epoch >= config_epoch) {
            return;
        }
        self.make_primary(about);
        if let Some(peer) = self.peers.get_mut(&about) {
            peer.config_epoch = config_epoch;
        }
        self.todo.save = true;
        self.take_up_slots(about, config_epoch, slots);
    }

    /// How many primaries report a node as down.
    pub(crate) fn reports(&mut self, id: NodeId) -> usize {
        let (now, timeout) = (self.now(), self.settings.node_timeout);
        let Some(peer) = self.peers.get_mut(&id) else { return 0 };
        forget_old_reports(peer, now, timeout);
        peer.reports.len()
    }
}

/// A report counts for two node timeouts.
fn forget_old_reports(peer: &mut Peer, now: i64, timeout: i64) {
    peer.reports.retain(|_, at| now - *at <= timeout * 2);
}
