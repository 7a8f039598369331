//! The owners of slots, and whether the cluster is up.

use super::act::Act;
use super::ids::NodeId;
use super::slot::Slots;
use super::state::Cluster;

/// A primary that has restarted refuses for so long, so that it can learn whether another one took its place.
const WRITABLE_DELAY: i64 = 2_000;

/// A primary that comes back from a minority refuses for a node timeout, at least and at most so long.
const REJOIN_DELAY: (i64, i64) = (500, 5_000);

impl Cluster {
    /// Gives a slot to a node; whoever had it has it no longer.
    pub(crate) fn assign(&mut self, slot: u16, to: Option<NodeId>) {
        if let Some(owner) = self.owner(slot) {
            if self.serves_slots_of(owner) && to != Some(owner) {
                self.act(Act::DropChannels(slot));
            }
            if let Some(owner) = self.peers.get_mut(&owner) {
                owner.slots.remove(slot);
            }
        }
        let others_have_replicas = self.peers.values().any(|peer| peer.is_replica);
        if let Some(peer) = to.and_then(|to| self.peers.get_mut(&to)) {
            peer.takes_replicas |= others_have_replicas && peer.slots.is_empty();
            peer.slots.insert(slot);
        }
    }

    /// Takes slots with the highest epoch, without asking anybody, and says so to all.
    pub(crate) fn take_slots(&mut self, slots: impl Iterator<Item = u16>) {
        self.bump_epoch();
        slots.for_each(|slot| self.assign(slot, Some(self.me)));
        self.announce(false);
        self.was_changed();
    }

    /// True if this node has the data of that one's slots.
    fn serves_slots_of(&self, owner: NodeId) -> bool {
        owner == self.me || self.myself().primary == Some(owner)
    }

    /// Takes up what a node says of its slots under its epoch, and follows it if this shard has lost all of its own to it.
    pub(super) fn take_up_slots(&mut self, sender: NodeId, epoch: u64, claimed: &Slots) {
        if sender == self.me {
            return;
        }
        let current = if self.is_replica() { self.myself().primary } else { Some(self.me) };
        let (mut lost, mut dirty) = (0, Vec::new());
        let held = self.peers.get(&sender).map(|peer| peer.slots.clone()).unwrap_or_default();
        for slot in claimed.iter() {
            if held.contains(slot) {
                self.unclaimed.remove(slot);
                continue;
            }
            if self.importing.contains_key(&slot) {
                continue;
            }
            let owner = self.owner(slot);
            let older = owner.is_none_or(|owner| self.peers[&owner].config_epoch < epoch);
            if older || self.unclaimed.contains(slot) {
                if owner == Some(self.me) {
                    dirty.push(slot);
                }
                lost += usize::from(owner.is_some() && owner == current);
                self.assign(slot, Some(sender));
                self.unclaimed.remove(slot);
                self.was_changed();
            }
        }
        for slot in held.iter().filter(|slot| !claimed.contains(*slot)) {
            self.unclaimed.insert(slot);
        }
        let is_without = current.and_then(|id| self.peers.get(&id)).is_some_and(|peer| peer.slots.is_empty());
        let above = self.myself().primary.and_then(|id| self.peers.get(&id)?.primary);
        if lost > 0 && is_without && (self.settings.replicas_move || claimed.len() == lost) {
            self.log(format!("Configuration change detected. Reconfiguring myself as a replica of {sender}"));
            self.follow(sender);
            self.was_changed();
        } else if let Some(above) = above.filter(|above| *above != self.me) {
            self.log(format!("I'm a sub-replica! Reconfiguring myself as a replica of grandmaster {above}"));
            self.follow(above);
            self.was_changed();
        } else {
            for slot in dirty {
                self.act(Act::DropKeys(slot));
            }
        }
    }

    /// Becomes a replica of a node.
    pub(crate) fn follow(&mut self, primary: NodeId) {
        if !self.is_replica() {
            self.migrating.clear();
            self.importing.clear();
        }
        let me = self.myself_mut();
        me.is_replica = true;
        me.takes_replicas = false;
        me.primary = Some(primary);
        if let Some(primary) = self.peers.get_mut(&primary) {
            primary.takes_replicas = true;
        }
        self.act(Act::Follow(primary));
        self.end_manual();
    }

    /// A node is a primary from now on.
    pub(super) fn make_primary(&mut self, id: NodeId) {
        let is_me = id == self.me;
        let Some(peer) = self.peers.get_mut(&id).filter(|peer| peer.is_replica) else { return };
        peer.takes_replicas |= peer.primary.is_some() && !is_me;
        peer.is_replica = false;
        peer.primary = None;
        self.was_changed();
    }

    /// Finds out whether the cluster is up.
    pub(super) fn look_at_state(&mut self) {
        let now = self.now();
        let began = *self.began.get_or_insert(now);
        if !self.is_replica() && !self.is_up && now - began < WRITABLE_DELAY {
            return;
        }
        let mut is_up = true;
        if self.settings.full_coverage {
            let mut served = Slots::default();
            let working = self.peers.values().filter(|peer| !peer.is_failed);
            working.for_each(|peer| served.extend(&peer.slots));
            is_up = served.is_full();
        }
        let voters = || self.peers.values().filter(|peer| peer.votes());
        let reached = voters().filter(|peer| !peer.is_failed && !peer.is_suspected).count();
        self.size = voters().count();
        if reached < self.quorum() {
            is_up = false;
            self.minority_at = now;
        }
        if is_up == self.is_up {
            return;
        }
        let rejoin = self.settings.node_timeout.clamp(REJOIN_DELAY.0, REJOIN_DELAY.1);
        if is_up && !self.is_replica() && now - self.minority_at < rejoin {
            return;
        }
        self.log(format!("Cluster state changed: {}", if is_up { "ok" } else { "fail" }));
        self.is_up = is_up;
    }

    /// How many primaries are a majority.
    pub(super) fn quorum(&self) -> usize {
        self.size / 2 + 1
    }
}
