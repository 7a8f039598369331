//! Members that hold on to their leader by a connection: when a follower takes its leader as gone, and a leader its members.
//!
//! *Source:* ZooKeeper's `Leader.lead`, `LearnerHandler.synced` and `Follower.followLeader`, 3.8: a learner gives up a leader when their connection
//! ends or nothing comes for `syncLimit` ticks; a leader counts at each whole tick whose connections are there and were heard of.

use super::member::{Node, Role, Silence};
use crate::entry::MemberId;
use crate::message::Body;

impl Node {
    /// The connection with a member has ended: its leader is gone, or one that follows it. Without a [`Silence`] nothing is made of it.
    pub fn lose(&mut self, peer: MemberId) {
        let Some(silence) = self.rules.silence else { return };
        if self.role == Role::Leader {
            if let Some(progress) = self.progress.get_mut(&peer) {
                progress.quiet = silence.ticks;
            }
        } else if self.leader == Some(peer) {
            self.look_for_a_leader();
        }
    }

    pub(super) fn tick_by(&mut self, silence: Silence) {
        if self.role == Role::Leader {
            self.progress.values_mut().for_each(|progress| progress.quiet = progress.quiet.saturating_add(1));
            if self.quiet.is_multiple_of(silence.looks) && !self.has_a_majority(silence.ticks) {
                self.look_for_a_leader();
            } else if self.quiet.is_multiple_of(silence.heartbeat) {
                self.send_heartbeats();
            }
        } else if self.leader.is_some() {
            if self.quiet >= silence.ticks {
                self.look_for_a_leader();
            }
        } else if self.quiet >= self.patience && self.members.contains(&self.id) {
            self.campaign();
        }
    }

    /// True if it helps nobody to depose the leader that it has heard of.
    pub(super) fn holds_on_to_a_leader(&self) -> bool {
        self.leader.is_some() && (self.rules.silence.is_some() || self.quiet < self.rules.election_ticks)
    }

    /// Shows a member that looks for a leader that there is one, if it is this.
    pub(super) fn show_to(&mut self, member: MemberId) {
        if self.rules.silence.is_some() && self.role == Role::Leader {
            let matched = self.progress.get(&member).map_or(0, |progress| progress.matched);
            let (committed, read) = (self.committed.min(matched), self.reads.last());
            self.send(member, Body::Heartbeat { committed, read });
        }
    }

    fn look_for_a_leader(&mut self) {
        self.follow(self.vote.term, None);
    }

    fn has_a_majority(&self, silence: u32) -> bool {
        let is_there = self.progress.iter().filter(|(id, one)| **id == self.id || one.quiet < silence);
        self.is_majority(is_there.count())
    }
}
