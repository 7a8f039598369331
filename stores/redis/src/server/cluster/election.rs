//! Failovers: a replica is elected by the primaries and takes the place of its own.

use super::act::Act;
use super::ids::{BusLink, NodeId};
use super::message::{Body, Header};
use super::state::{Cluster, Manual};

/// How long a replica waits at least until it asks for votes, so that all hear that its primary is down; and at most how much longer.
const DELAY: i64 = 500;
const DELAY_RANDOM: u64 = 500;

/// How much longer it waits for each other replica that has more of the data.
const DELAY_OF_RANK: i64 = 1_000;

/// The shortest time in which an election has to be won.
const ELECTION_MIN: i64 = 2_000;

/// How long a failover by hand may take.
const MANUAL: i64 = 5_000;

/// So many times as long the primary lets nobody write.
const PAUSE_TIMES: i64 = 2;

impl Cluster {
    /// Votes for a replica, if it may.
    pub(super) fn vote(&mut self, candidate: NodeId, request: &Header) {
        if !self.myself().votes() {
            return;
        }
        let Some(peer) = self.peers.get(&candidate) else { return };
        let primary = peer.primary.and_then(|id| Some((id, self.peers.get(&id)?)));
        let denied = match primary {
            _ if request.current_epoch < self.current_epoch => Some("its epoch is old"),
            _ if self.last_vote_epoch == self.current_epoch => Some("already voted in this epoch"),
            _ if !peer.is_replica => Some("it is a master node"),
            None => Some("I don't know its master"),
            Some((_, primary)) if !primary.is_failed && !request.forces_vote => Some("its master is up"),
            Some((_, primary)) if self.now() - primary.voted_at < self.settings.node_timeout * 2 => {
                Some("voted for a replica of its master lately")
            }
            Some(_) => self.is_behind(request).then_some("its slots have a newer epoch"),
        };
        if let Some(why) = denied {
            return self.log(format!("Failover auth denied to {candidate}: {why}"));
        }
        let now = self.now();
        self.last_vote_epoch = self.current_epoch;
        let primary = primary.map(|(id, _)| id);
        if let Some(primary) = primary.and_then(|id| self.peers.get_mut(&id)) {
            primary.voted_at = now;
        }
        self.todo.save = true;
        self.send_to(candidate, Body::Vote);
        self.log(format!("Failover auth granted to {candidate} for epoch {}", self.current_epoch));
    }

    /// True if a candidate claims slots that are served under a newer epoch.
    fn is_behind(&self, request: &Header) -> bool {
        request.slots.iter().filter(|slot| !self.unclaimed.contains(*slot)).any(|slot| {
            let owner = self.owner(slot).and_then(|id| self.peers.get(&id));
            owner.is_some_and(|owner| owner.config_epoch > request.config_epoch)
        })
    }

    /// How many other replicas of the primary have more of the data.
    fn rank(&self) -> usize {
        let Some(primary) = self.myself().primary else { return 0 };
        let others = self.replicas_of(primary).filter(|(id, _)| **id != self.me);
        others.filter(|(_, peer)| peer.offset > self.local.offset).count()
    }

    /// A replica whose primary is down, or that was ordered to, does the next step to take its place.
    pub(super) fn stand_for_election(&mut self) {
        self.todo.failover = false;
        let now = self.now();
        let age = now - self.election.at;
        let by_hand = self.manual.end != 0 && self.manual.can_start;
        let primary = self.myself().primary.and_then(|id| self.peers.get(&id));
        let Some(primary) = primary.filter(|_| self.is_replica()) else { return };
        let of_itself = primary.is_failed && !self.settings.no_failover;
        if !(of_itself || by_hand) || primary.slots.is_empty() {
            return;
        }
        if self.is_too_old() && !by_hand {
            return;
        }
        let timeout = (self.settings.node_timeout * 2).max(ELECTION_MIN);
        if age > timeout * 2 {
            return self.plan_election();
        }
        if !self.election.sent && self.manual.end == 0 {
            let rank = self.rank();
            if rank > self.election.rank {
                let more = i64::try_from(rank - self.election.rank).unwrap_or(0);
                self.election.at += more * DELAY_OF_RANK;
                self.election.rank = rank;
            }
        }
        if now < self.election.at || now - self.election.at > timeout {
            return;
        }
        if !self.election.sent {
            self.current_epoch += 1;
            self.election.epoch = self.current_epoch;
            self.election.sent = true;
            self.log(format!("Starting a failover election for epoch {}.", self.current_epoch));
            self.broadcast(&Body::VoteRequest);
            return self.was_changed();
        }
        if self.election.votes >= self.quorum() {
            self.log("Failover election won: I'm the new master.".to_owned());
            let epoch = self.election.epoch;
            let me = self.myself_mut();
            me.config_epoch = me.config_epoch.max(epoch);
            self.take_over();
        }
    }

    /// True if a replica has been without its primary for longer than it may, besides the time in which that is found down.
    fn is_too_old(&self) -> bool {
        let settings = &self.settings;
        let age = self.local.data_age;
        let age = if age > settings.node_timeout { age - settings.node_timeout } else { age };
        let most = settings.ping_period_s * 1000 + settings.node_timeout * settings.validity_factor;
        settings.validity_factor > 0 && age > most
    }

    fn plan_election(&mut self) {
        let rank = self.rank();
        let delay = DELAY + self.random.below(DELAY_RANDOM).cast_signed();
        let mut at = self.now() + delay + i64::try_from(rank).unwrap_or(0) * DELAY_OF_RANK;
        if self.manual.end != 0 {
            at = self.now();
            self.todo.failover = true;
        }
        let rank = if self.manual.end != 0 { 0 } else { rank };
        self.election.at = at;
        self.election.rank = rank;
        self.election.votes = 0;
        self.election.sent = false;
        self.log(format!(
            "Start of election delayed for {} milliseconds (rank #{rank}, offset {}).",
            at - self.now(),
            self.local.offset
        ));
        self.announce(true);
    }

    /// Takes the place of the primary, under an epoch that was found before.
    pub(crate) fn take_over(&mut self) {
        let Some(old) = self.myself().primary.filter(|_| self.is_replica()) else { return };
        let me = self.me;
        self.make_primary(me);
        self.act(Act::Promote);
        if let Some(peer) = self.peers.get_mut(&old) {
            let slots = std::mem::take(&mut peer.slots);
            self.myself_mut().slots.extend(&slots);
        }
        self.look_at_state();
        self.save();
        self.announce(false);
        self.end_manual();
    }

    /// Begins a failover by hand on a replica: after its primary has stopped, at once, or without asking anybody.
    pub(crate) fn begin_manual(&mut self, forces: bool, takes_over: bool) {
        self.end_manual();
        self.manual.end = self.now() + MANUAL;
        if takes_over {
            self.log("Taking over the master (user request).".to_owned());
            self.bump_epoch();
            self.take_over();
        } else if forces {
            self.manual.can_start = true;
        } else if let Some(primary) = self.myself().primary {
            self.send_to(primary, Body::ManualFailover);
        }
    }

    /// A primary lets nobody write, since one of its replicas wants to take over.
    pub(super) fn make_way(&mut self, link: BusLink, replica: NodeId) {
        let asks = self.peers.get(&replica).is_some_and(|peer| peer.primary == Some(self.me));
        if !asks {
            return;
        }
        self.end_manual();
        self.manual.end = self.now() + MANUAL;
        self.manual.replica = Some(replica);
        self.act(Act::Pause(Some(self.now() + MANUAL * PAUSE_TIMES)));
        self.log(format!("Manual failover requested by replica {replica}."));
        self.ping(link, None);
    }

    /// Ends a failover by hand, whatever has become of it.
    pub(super) fn end_manual(&mut self) {
        if self.manual.replica.is_some() {
            self.act(Act::Pause(None));
        }
        self.manual = Manual::default();
    }

    /// The replica has all that its primary has, which lets nobody write: it may stand for election.
    pub(super) fn go_on_by_hand(&mut self) {
        if self.manual.end == 0 || self.manual.can_start {
            return;
        }
        let Some(offset) = self.manual.primary_offset else { return };
        if offset == self.local.offset {
            self.manual.can_start = true;
            self.todo.failover = true;
            self.log("All master replication stream processed, manual failover can start.".to_owned());
        } else {
            self.todo.manual = true;
        }
    }

    /// True while the primary lets nobody write.
    pub(super) fn is_making_way(&self) -> bool {
        !self.is_replica() && self.manual.end != 0
    }
}
