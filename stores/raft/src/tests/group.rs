//! A group of nodes whose messages, disks and lives a test has in its hands, and which checks at each step what Raft promises.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use picklock_model::ids::Origin;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use crate::{Content, Entry, MemberId, Message, Node, Outcome, Role, Rules, Silence, Stored};

/// A member: its disk, and its node as long as it lives.
pub(super) struct Member {
    pub(super) stored: Stored,
    pub(super) node: Option<Node>,
    /// The entries that it has applied in this life.
    applied: Vec<Entry>,
    reads: BTreeMap<u64, u64>,
}

/// The group.
pub(super) struct Group {
    pub(super) members: BTreeMap<MemberId, Member>,
    /// Messages on their way, by sender and receiver, in order.
    pub(super) links: BTreeMap<(MemberId, MemberId), VecDeque<Message>>,
    rules: Rules,
    seed: u64,
    lives: u64,
    /// The entries that somebody has applied, by place.
    chosen: BTreeMap<u64, Entry>,
    /// Who led in each term.
    leaders: BTreeMap<u64, MemberId>,
    last_read: u64,
    proposed: u64,
}

impl Group {
    pub(super) fn new(count: u32, asks_first: bool, seed: u64) -> Group {
        Group::by(count, Rules { election_ticks: 10, asks_first, silence: None }, seed)
    }

    /// Members that hold on to their leader by a connection.
    pub(super) fn connected(count: u32, seed: u64) -> Group {
        let silence = Silence { ticks: 40, heartbeat: 4, looks: 8 };
        Group::by(count, Rules { election_ticks: 2, asks_first: true, silence: Some(silence) }, seed)
    }

    fn by(count: u32, rules: Rules, seed: u64) -> Group {
        let mut group = Group {
            members: BTreeMap::new(),
            links: BTreeMap::new(),
            rules,
            seed,
            lives: 0,
            chosen: BTreeMap::new(),
            leaders: BTreeMap::new(),
            last_read: 0,
            proposed: 0,
        };
        for id in 1..=count {
            group.members.insert(
                id,
                Member { stored: Stored::default(), node: None, applied: Vec::new(), reads: BTreeMap::new() },
            );
        }
        (1..=count).for_each(|id| group.start(id));
        group
    }

    /// Starts a member with what its disk has.
    pub(super) fn start(&mut self, id: MemberId) {
        self.lives += 1;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ (self.lives << 32));
        let draw = Box::new(move |bound: u32| rng.next_u32() % bound);
        let all: BTreeSet<MemberId> = self.members.keys().copied().collect();
        let member = self.members.get_mut(&id).unwrap();
        member.node = Some(Node::new(id, all, self.rules, member.stored.clone(), draw));
        member.applied.clear();
        member.reads.clear();
    }

    /// A member dies, and with it what is on its way from and to it.
    pub(super) fn kill(&mut self, id: MemberId) {
        self.members.get_mut(&id).unwrap().node = None;
        self.links.retain(|(from, to), _| *from != id && *to != id);
    }

    pub(super) fn tick(&mut self, id: MemberId) {
        self.with(id, Node::tick);
    }

    /// A member sees the end of its connection with another one: what is on its way between them is gone.
    pub(super) fn lose(&mut self, id: MemberId, peer: MemberId) {
        for link in [(id, peer), (peer, id)] {
            self.links.remove(&link);
        }
        self.with(id, |node| node.lose(peer));
    }

    /// Delivers the next message of a link.
    pub(super) fn deliver(&mut self, link: (MemberId, MemberId)) {
        let message = self.links.get_mut(&link).and_then(VecDeque::pop_front);
        if let Some(message) = message {
            self.with(link.1, |node| node.step(message));
        }
    }

    pub(super) fn propose(&mut self, id: MemberId) {
        self.proposed += 1;
        let data = self.proposed.to_be_bytes().to_vec();
        self.with(id, |node| {
            let _ = node.propose(Origin::default(), data);
        });
    }

    /// Every member that leads is asked to remove this one, or to add it. It may have to refuse.
    pub(super) fn change(&mut self, changed: MemberId) {
        let ids: Vec<MemberId> = self.members.keys().copied().collect();
        for id in ids {
            self.with(id, |node| {
                let mut members = node.members().clone();
                if !members.remove(&changed) {
                    members.insert(changed);
                }
                let _ = node.propose_members(members);
            });
        }
    }

    /// Asks to read at a member: what is chosen by now has to be seen.
    pub(super) fn read(&mut self, id: MemberId) {
        self.last_read += 1;
        let (number, seen) = (self.last_read, self.chosen.keys().last().copied().unwrap_or_default());
        if let Some(member) = self.members.get_mut(&id).filter(|member| member.node.is_some()) {
            member.reads.insert(number, seen);
        }
        self.with(id, |node| {
            let _ = node.read(number);
        });
    }

    pub(super) fn with(&mut self, id: MemberId, act: impl FnOnce(&mut Node)) {
        let member = self.members.get_mut(&id).unwrap();
        let Some(node) = &mut member.node else { return };
        act(node);
        let outcome = node.take_outcome();
        self.follow_up(id, outcome);
    }

    fn follow_up(&mut self, id: MemberId, outcome: Outcome) {
        let member = self.members.get_mut(&id).unwrap();
        let node = member.node.as_ref().unwrap();
        if let Some(vote) = outcome.vote {
            assert!(vote.term >= member.stored.vote.term, "a term falls");
            member.stored.vote = vote;
        }
        if let Some(snapshot) = outcome.installed {
            member.stored.entries.clear();
            // What it stands for was chosen.
            member.applied = self.chosen.range(..=snapshot.index).map(|(_, entry)| entry.clone()).collect();
            member.stored.snapshot = Some(snapshot);
        }
        if let Some(first) = outcome.changed_from {
            let start = member.stored.snapshot.as_ref().map_or(0, |snapshot| snapshot.index);
            member.stored.entries.truncate((first - start - 1) as usize);
            member.stored.entries.extend_from_slice(node.entries_from(first));
        }
        if outcome.role == Some(Role::Leader) {
            let before = self.leaders.insert(node.term(), id);
            assert!(before.is_none_or(|before| before == id), "two leaders in term {}", node.term());
            // Who leads has all that was chosen.
            for (index, entry) in &self.chosen {
                let own = node.entries_from(*index).first();
                let is_there =
                    own == Some(entry) || node.snapshot().is_some_and(|snapshot| snapshot.index >= *index);
                assert!(is_there, "leader {id} of term {} lacks entry {index}", node.term());
            }
        }
        for entry in outcome.committed {
            let chosen = self.chosen.entry(entry.index).or_insert_with(|| entry.clone());
            assert_eq!(*chosen, entry, "two entries were chosen for one place");
            member.applied.push(entry);
        }
        let applied = node.committed();
        for (number, index) in outcome.readable {
            let seen = member.reads.remove(&number);
            assert!(seen.is_none_or(|seen| index.max(applied) >= seen && index >= seen), "a read is stale");
        }
        for message in outcome.messages {
            self.links.entry((message.from, message.to)).or_default().push_back(message);
        }
    }

    /// Ticks all, and delivers all that comes of it, until nothing happens any more.
    pub(super) fn settle(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let ids: Vec<MemberId> = self.members.keys().copied().collect();
            ids.iter().for_each(|id| self.tick(*id));
            while let Some(link) =
                self.links.iter().find(|(_, queue)| !queue.is_empty()).map(|(link, _)| *link)
            {
                self.deliver(link);
            }
        }
    }

    /// The logs of two members are the same up to each entry that both have in the same term.
    pub(super) fn check_logs(&self) {
        let all: Vec<&Member> = self.members.values().collect();
        for one in &all {
            for other in &all {
                let pairs = one.stored.entries.iter().filter_map(|entry| {
                    let twin = other.stored.entries.iter().find(|twin| twin.index == entry.index)?;
                    Some((entry, twin))
                });
                let same: Vec<bool> = pairs.map(|(entry, twin)| entry == twin).collect();
                let last = same.iter().rposition(|is_same| *is_same);
                assert!(
                    last.is_none_or(|last| same[..last].iter().all(|is_same| *is_same)),
                    "logs part and meet"
                );
            }
        }
    }

    pub(super) fn leader(&self) -> Option<MemberId> {
        let leads = |(id, member): (&MemberId, &Member)| {
            member.node.as_ref().filter(|node| node.role() == Role::Leader).map(|node| (node.term(), *id))
        };
        self.members.iter().filter_map(leads).max().map(|(_, id)| id)
    }

    /// How many changes were chosen.
    pub(super) fn changes(&self) -> usize {
        self.chosen.values().filter(|entry| matches!(entry.content, Content::Data(_))).count()
    }
}
