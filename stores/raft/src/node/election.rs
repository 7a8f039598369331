//! Elections: who votes for whom, and what a member becomes.

use picklock_model::ids::Origin;

use super::member::{Node, Role};
use super::progress::Progress;
use crate::entry::{Content, MemberId, Vote};
use crate::message::Body;

impl Node {
    /// Wants to be elected, or asks first whether it would be.
    pub(super) fn campaign(&mut self) {
        self.quiet = 0;
        self.lose_patience_later();
        self.leader = None;
        if self.rules.asks_first {
            self.turn(Role::Asking);
        } else {
            self.stand();
        }
        self.ask_for_votes();
    }

    /// Becomes a candidate in the next term.
    fn stand(&mut self) {
        self.turn(Role::Candidate);
        self.set_vote(Vote { term: self.vote.term + 1, given_to: self.id });
    }

    fn ask_for_votes(&mut self) {
        let asks = self.role == Role::Asking;
        self.votes.clear();
        self.votes.insert(self.id, true);
        let (index, last_term) = (self.log.last_index(), self.log.last_term());
        let term = self.vote.term + u64::from(asks);
        for other in self.others() {
            self.send_in(term, other, Body::Vote { index, last_term, asks });
        }
        self.count_up();
    }

    /// Answers a candidate whose log ends like this.
    pub(super) fn vote_for(&mut self, candidate: MemberId, term: u64, end: (u64, u64), asks: bool) {
        let is_free = self.vote.given_to == 0 && self.leader.is_none();
        let may = self.vote.given_to == candidate || is_free || (asks && term > self.vote.term);
        let granted = may && end >= (self.log.last_term(), self.log.last_index());
        if granted && !asks {
            self.quiet = 0;
            self.set_vote(Vote { given_to: candidate, ..self.vote });
        }
        let term = if granted { term } else { self.vote.term };
        self.send_in(term, candidate, Body::Voted { granted, asked: asks });
    }

    /// Counts a vote.
    pub(super) fn count(&mut self, from: MemberId, granted: bool, asked: bool) {
        let counts = if asked { Role::Asking } else { Role::Candidate };
        if self.role == counts && self.members.contains(&from) {
            self.votes.entry(from).or_insert(granted);
            self.count_up();
        }
    }

    fn count_up(&mut self) {
        let granted = self.votes.values().filter(|granted| **granted).count();
        let refused = self.votes.len() - granted;
        if self.is_majority(granted) {
            if self.role == Role::Asking {
                self.stand();
                self.ask_for_votes();
            } else {
                self.lead();
            }
        } else if self.is_majority(refused) {
            self.follow(self.vote.term, None);
        }
    }

    fn lead(&mut self) {
        self.turn(Role::Leader);
        self.leader = Some(self.id);
        self.quiet = std::mem::take(&mut self.led_before);
        let next = self.log.last_index() + 1;
        let progress = |member: &MemberId| (*member, Progress::new(next));
        self.progress = self.members.iter().map(progress).collect();
        self.reads.clear();
        self.append(Origin::default(), Content::Nothing);
    }

    /// Follows in this term whoever is known to lead in it.
    pub(super) fn follow(&mut self, term: u64, leader: Option<MemberId>) {
        if term > self.vote.term {
            self.set_vote(Vote { term, given_to: 0 });
        }
        self.turn(Role::Follower);
        self.leader = leader;
        self.quiet = 0;
        self.lose_patience_later();
        self.reads.clear();
    }

    /// A leader of this term is there.
    pub(super) fn hear(&mut self, leader: MemberId) {
        if self.role != Role::Follower || self.leader != Some(leader) {
            self.follow(self.vote.term, Some(leader));
        }
        self.quiet = 0;
    }

    fn turn(&mut self, role: Role) {
        if self.role != role {
            self.role = role;
            self.outcome.role = Some(role);
        }
    }

    fn set_vote(&mut self, vote: Vote) {
        if self.vote != vote {
            self.vote = vote;
            self.outcome.vote = Some(vote);
        }
    }

    /// Draws how long it waits for a leader.
    pub(super) fn lose_patience_later(&mut self) {
        let ticks = self.rules.election_ticks.max(1);
        self.patience = ticks + (self.draw)(ticks);
    }
}
