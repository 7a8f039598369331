//! A member: its parts, what it does at a tick, and which part of it a message is for.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::Origin;

use super::progress::Progress;
use super::reads::Reads;
use crate::entry::{Content, Entry, MemberId, Snapshot, Stored, Vote};
use crate::log::Log;
use crate::message::{Body, Message};

/// Draws a number below a bound.
pub type Draw = Box<dyn FnMut(u32) -> u32 + Send>;

/// The rules that all members of a group keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A follower that hears nothing for one to two times so many ticks wants to be elected; a leader that does not hear of a majority for
    /// so many steps down. With a [`Silence`] of its own, a member that knows no leader wants to be elected after such a span.
    pub election_ticks: u32,
    /// True if a candidate asks first whether it would be elected, so that a member which was cut off disturbs nobody.
    pub asks_first: bool,
    /// How members notice that others are gone, where that is another matter than how long an election takes.
    pub silence: Option<Silence>,
}

/// The spans of members that hold on to their leader by a connection, in ticks: they do without it when the connection ends
/// ([`Node::lose`]), or when nothing comes for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// A follower that hears nothing of its leader for so long looks for another one, and a leader takes a member as gone.
    pub ticks: u32,
    /// A leader sends a heartbeat once in so many ticks.
    pub heartbeat: u32,
    /// A leader looks once in so many ticks whether a majority is there, and steps down if not.
    pub looks: u32,
}

/// The part that a member plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It follows, or does not know whom.
    Follower,
    /// It asks whether it would be elected.
    Asking,
    /// It wants to be elected.
    Candidate,
    /// It leads.
    Leader,
}

/// Nobody is known who leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLeader;

/// What came of ticks and messages, in the order in which it is to be done.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The vote, if it is another one: to be kept.
    pub vote: Option<Vote>,
    /// A snapshot of the leader takes the place of the whole log: to be kept, and the state is to be this one.
    pub installed: Option<Snapshot>,
    /// The log is another one from this place on: to be kept.
    pub changed_from: Option<u64>,
    /// The messages to the others.
    pub messages: Vec<Message>,
    /// The entries that are committed from now on: to be applied.
    pub committed: Vec<Entry>,
    /// Own reads, by number, each with the place up to which has to be applied before.
    pub readable: Vec<(u64, u64)>,
    /// The part that the member plays, if it is another one.
    pub role: Option<Role>,
    /// True if a leader has shown with a heartbeat that it is there.
    pub heard: bool,
}

/// A member.
pub struct Node {
    pub(super) id: MemberId,
    pub(super) members: BTreeSet<MemberId>,
    /// The place of the entry that names these members; 0 for those of the start.
    pub(super) members_since: u64,
    pub(super) rules: Rules,
    pub(super) draw: Draw,
    pub(super) vote: Vote,
    pub(super) log: Log,
    pub(super) committed: u64,
    pub(super) role: Role,
    pub(super) leader: Option<MemberId>,
    /// Ticks since the leader was heard of, or of a leader since it last saw a majority.
    pub(super) quiet: u32,
    /// After so many quiet ticks the member wants to be elected.
    pub(super) patience: u32,
    /// For how many ticks the first leader of a new group is to have led as it is elected.
    pub(super) led_before: u32,
    /// The votes of a candidate.
    pub(super) votes: BTreeMap<MemberId, bool>,
    /// Of a leader: how far each member is.
    pub(super) progress: BTreeMap<MemberId, Progress>,
    pub(super) reads: Reads,
    pub(super) outcome: Outcome,
}

impl Node {
    /// A member of these, with what its disk has.
    #[must_use]
    pub fn new(id: MemberId, members: BTreeSet<MemberId>, rules: Rules, stored: Stored, draw: Draw) -> Node {
        let (vote, log) = (stored.vote, Log::new(stored));
        let committed = log.start();
        let named = log.members_in_force().map(|(index, members)| (index, members.clone()));
        let (members_since, members) = named.unwrap_or((0, members));
        let mut node = Node {
            id,
            members,
            members_since,
            rules,
            draw,
            vote,
            log,
            committed,
            role: Role::Follower,
            leader: None,
            quiet: 0,
            patience: 0,
            led_before: 0,
            votes: BTreeMap::new(),
            progress: BTreeMap::new(),
            reads: Reads::default(),
            outcome: Outcome::default(),
        };
        node.lose_patience_later();
        node
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> MemberId {
        self.id
    }

    /// Its term.
    #[must_use]
    pub fn term(&self) -> u64 {
        self.vote.term
    }

    /// Its part.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Who leads, as far as it knows.
    #[must_use]
    pub fn leader(&self) -> Option<MemberId> {
        self.leader
    }

    /// The members, as far as it knows.
    #[must_use]
    pub fn members(&self) -> &BTreeSet<MemberId> {
        &self.members
    }

    /// The place of its last entry.
    #[must_use]
    pub fn last_index(&self) -> u64 {
        self.log.last_index()
    }

    /// Up to where the log is committed.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// The entries from this place on; none if they are not there any more.
    #[must_use]
    pub fn entries_from(&self, index: u64) -> &[Entry] {
        self.log.from(index).unwrap_or_default()
    }

    /// What came of everything since the last call.
    pub fn take_outcome(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }

    /// Some time has passed: one tick.
    pub fn tick(&mut self) {
        self.quiet += 1;
        if let Some(silence) = self.rules.silence {
            return self.tick_by(silence);
        }
        if self.role != Role::Leader {
            if self.quiet >= self.patience && self.members.contains(&self.id) {
                self.campaign();
            }
            return;
        }
        if self.quiet >= self.rules.election_ticks {
            self.quiet = 0;
            if !self.has_heard_of_a_majority() {
                self.follow(self.vote.term, None);
                return;
            }
        }
        self.send_heartbeats();
    }

    /// Takes ticks as passed without an election: the first member of a new group need not wait. The group is to be as one that has run
    /// for long: the leader's ticks since it last saw a majority are drawn.
    pub fn hurry(&mut self) {
        self.quiet = self.patience;
        self.led_before = (self.draw)(self.rules.election_ticks.max(1));
    }

    /// Has a change appended, in the service of a message.
    ///
    /// # Errors
    /// When nobody is known who leads. Otherwise it may still come to nothing.
    pub fn propose(&mut self, origin: Origin, data: Vec<u8>) -> Result<(), NoLeader> {
        match self.leader {
            Some(leader) if leader == self.id => {
                self.append(origin, Content::Data(data));
                Ok(())
            }
            Some(leader) => {
                self.send(leader, Body::Propose { origin, data });
                Ok(())
            }
            None => Err(NoLeader),
        }
    }

    /// Has a member added or removed: one at a time.
    ///
    /// # Errors
    /// When it does not lead itself, has not committed anything in its term or a change of the members yet, or would leave one member alone.
    pub fn propose_members(&mut self, members: BTreeSet<MemberId>) -> Result<(), NoLeader> {
        let open = self.entries_from(self.committed + 1);
        let is_open = open.iter().any(|entry| matches!(entry.content, Content::Members(_)));
        // Nor may it know too little: an earlier leader may have changed the members (Ongaro, raft-dev, 2015).
        let knows = self.log.term(self.committed) == Some(self.vote.term);
        let changes = members.symmetric_difference(&self.members).count();
        // Of two, one that has not heard that it is alone, or no longer is, waits for the other's vote for ever.
        let is_alone = members.len() < 2;
        if self.role != Role::Leader || is_open || !knows || changes > 1 || is_alone {
            return Err(NoLeader);
        }
        self.append(Origin::default(), Content::Members(members));
        Ok(())
    }

    /// A snapshot of the state after this entry is there: the entries before it may go.
    pub fn compact(&mut self, index: u64, state: Vec<u8>) {
        let Some(term) = self.log.term(index).filter(|_| index <= self.committed && index > self.log.start())
        else {
            return;
        };
        self.log.compact(Snapshot { index, term, members: self.members.clone(), state });
    }

    /// The last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.log.snapshot.as_ref()
    }

    /// Does what a message asks for.
    pub fn step(&mut self, message: Message) {
        let Message { from, term, body, .. } = message;
        if term > self.vote.term && !self.rises_to(from, term, &body) {
            return;
        }
        if term < self.vote.term {
            return self.refuse_old(from, term, &body);
        }
        match body {
            Body::Vote { index, last_term, asks } => self.vote_for(from, term, (last_term, index), asks),
            Body::Voted { granted, asked } => self.count(from, granted, asked),
            Body::Append { index, last_term, entries, committed } => {
                self.hear(from);
                self.take_entries(from, (index, last_term), entries, committed);
            }
            Body::Appended { index, refused } => self.advance(from, index, refused),
            Body::Heartbeat { committed, read } => {
                self.hear(from);
                self.outcome.heard = true;
                self.commit_to(committed.min(self.log.last_index()));
                self.send(from, Body::Heard { read });
            }
            Body::Heard { read } => self.heard(from, read),
            Body::Install { snapshot } => {
                self.hear(from);
                self.install(from, snapshot);
            }
            Body::Propose { origin, data } => {
                // Who leads no longer hands it on.
                let _ = self.propose(origin, data);
            }
            Body::Read { read } => self.read_for(from, read),
            Body::Readable { read, index } => self.outcome.readable.push((read, index)),
            // It is for whoever owns the node.
            Body::Note { .. } => {}
        }
    }

    /// Takes on a higher term, unless the message does not count. False if it is to be passed over.
    fn rises_to(&mut self, from: MemberId, term: u64, body: &Body) -> bool {
        match body {
            // Whoever has heard of a leader a moment ago helps nobody to depose it.
            Body::Vote { .. } if self.holds_on_to_a_leader() => {
                self.show_to(from);
                false
            }
            Body::Vote { asks: true, .. } | Body::Voted { granted: true, asked: true } => true,
            Body::Propose { .. } | Body::Read { .. } | Body::Readable { .. } | Body::Note { .. } => false,
            Body::Append { .. } | Body::Heartbeat { .. } | Body::Install { .. } => {
                self.follow(term, Some(from));
                true
            }
            _ => {
                self.follow(term, None);
                true
            }
        }
    }

    /// Answers a message of an earlier term: a leader of one learns that it is over.
    fn refuse_old(&mut self, from: MemberId, term: u64, body: &Body) {
        match body {
            Body::Append { .. } | Body::Heartbeat { .. } | Body::Install { .. } => {
                self.send(from, Body::Appended { index: 0, refused: None });
            }
            Body::Vote { asks: true, .. } => {
                self.send(from, Body::Voted { granted: false, asked: true });
            }
            // A change and a question hold in any term.
            Body::Propose { origin, data } => {
                let _ = self.propose(*origin, data.clone());
            }
            Body::Read { read } => self.read_for(from, *read),
            Body::Readable { read, index } if term + 1 >= self.vote.term => {
                self.outcome.readable.push((*read, *index));
            }
            _ => {}
        }
    }

    pub(super) fn send(&mut self, to: MemberId, body: Body) {
        self.send_in(self.vote.term, to, body);
    }

    pub(super) fn send_in(&mut self, term: u64, to: MemberId, body: Body) {
        self.outcome.messages.push(Message { from: self.id, to, term, body });
    }

    /// All members but itself.
    pub(super) fn others(&self) -> Vec<MemberId> {
        self.members.iter().copied().filter(|member| *member != self.id).collect()
    }

    pub(super) fn is_majority(&self, count: usize) -> bool {
        count > self.members.len() / 2
    }
}
