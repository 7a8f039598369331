//! The way of entries from a leader to a majority.

use picklock_model::ids::Origin;

use super::member::{Node, Role};
use super::progress::Progress;
use crate::entry::{Content, Entry, MemberId, Snapshot};
use crate::message::Body;

impl Node {
    /// Appends an entry of one's own and sends it to everybody.
    pub(super) fn append(&mut self, origin: Origin, content: Content) {
        let index = self.log.last_index() + 1;
        self.log.append(Entry { term: self.vote.term, index, origin, content });
        self.changed_from(index);
        if let Some(own) = self.progress.get_mut(&self.id) {
            own.matched = index;
            own.next = index + 1;
        }
        for other in self.others() {
            self.send_entries(other);
        }
        self.commit_what_a_majority_has();
    }

    /// Sends a member what it does not have yet.
    fn send_entries(&mut self, to: MemberId) {
        let Some(progress) = self.progress.get(&to).copied() else { return };
        let before = progress.next - 1;
        let entries = self.log.from(progress.next).map(<[Entry]>::to_vec);
        let (Some(last_term), Some(entries)) = (self.log.term(before), entries) else {
            let Some(snapshot) = self.log.snapshot.clone() else { return };
            self.send_next(to, snapshot.index + 1);
            return self.send(to, Body::Install { snapshot });
        };
        // It is taken to arrive: who misses something refuses what comes next.
        self.send_next(to, progress.next + entries.len() as u64);
        self.send(to, Body::Append { index: before, last_term, entries, committed: self.committed });
    }

    fn send_next(&mut self, to: MemberId, next: u64) {
        if let Some(progress) = self.progress.get_mut(&to) {
            progress.next = next;
        }
    }

    /// Takes entries that follow this one, or refuses them.
    pub(super) fn take_entries(
        &mut self,
        leader: MemberId,
        (index, last_term): (u64, u64),
        entries: Vec<Entry>,
        committed: u64,
    ) {
        if index < self.committed {
            return self.send(leader, Body::Appended { index: self.committed, refused: None });
        }
        if self.log.term(index) != Some(last_term) {
            let refused = Some(self.log.last_index().min(index.saturating_sub(1)));
            return self.send(leader, Body::Appended { index, refused });
        }
        let last = index + entries.len() as u64;
        let names_members = entries.iter().any(|entry| matches!(entry.content, Content::Members(_)));
        if let Some(first) = self.log.merge(entries) {
            self.changed_from(first);
        }
        if names_members {
            self.take_members_in_force();
        }
        self.commit_to(committed.min(last));
        self.send(leader, Body::Appended { index: last, refused: None });
    }

    /// Starts anew with the state that a leader has sent.
    pub(super) fn install(&mut self, leader: MemberId, snapshot: Snapshot) {
        if snapshot.index <= self.committed {
            return self.send(leader, Body::Appended { index: self.committed, refused: None });
        }
        let index = snapshot.index;
        self.members.clone_from(&snapshot.members);
        self.members_since = snapshot.index;
        self.committed = index;
        self.outcome.changed_from = None;
        self.outcome.committed.clear();
        self.outcome.installed = Some(snapshot.clone());
        self.log.install(snapshot);
        self.send(leader, Body::Appended { index, refused: None });
    }

    /// A member is up to here, or refuses.
    pub(super) fn advance(&mut self, from: MemberId, index: u64, refused: Option<u64>) {
        let last = self.log.last_index();
        let Some(progress) = self.progress.get_mut(&from).filter(|_| self.role == Role::Leader) else {
            return;
        };
        progress.hear();
        match refused {
            Some(has) => {
                // An old refusal says nothing.
                if index < progress.matched {
                    return;
                }
                progress.next = has.min(last).max(progress.matched) + 1;
                self.send_entries(from);
            }
            None if index > progress.matched => {
                progress.matched = index;
                progress.next = progress.next.max(index + 1);
                let is_behind = progress.next <= last;
                let is_new = self.commit_what_a_majority_has();
                if is_behind && !is_new {
                    self.send_entries(from);
                }
            }
            None => {}
        }
    }

    /// Shows all others that it leads, with the last read that waits.
    pub(super) fn send_heartbeats(&mut self) {
        let read = self.reads.last();
        for other in self.others() {
            let matched = self.progress.get(&other).map_or(0, |progress| progress.matched);
            self.send(other, Body::Heartbeat { committed: self.committed.min(matched), read });
        }
    }

    /// A member has answered a heartbeat.
    pub(super) fn heard(&mut self, from: MemberId, read: u64) {
        let last = self.log.last_index();
        let Some(progress) = self.progress.get_mut(&from).filter(|_| self.role == Role::Leader) else {
            return;
        };
        progress.hear();
        if progress.matched < last {
            self.send_entries(from);
        }
        self.confirm(from, read);
    }

    /// Looks whether a majority was heard of since it last looked.
    pub(super) fn has_heard_of_a_majority(&mut self) -> bool {
        let own = self.id;
        let heard = |(id, progress): (&MemberId, &mut Progress)| {
            let was_active = std::mem::take(&mut progress.active);
            usize::from(was_active || *id == own)
        };
        let count = self.progress.iter_mut().map(heard).sum();
        self.is_majority(count)
    }

    /// Commits what a majority has of the own term. True if there was anything.
    fn commit_what_a_majority_has(&mut self) -> bool {
        let mut matched: Vec<u64> = self.progress.values().map(|progress| progress.matched).collect();
        matched.sort_unstable_by(|one, other| other.cmp(one));
        let index = matched.get(self.members.len() / 2).copied().unwrap_or_default();
        let is_new = index > self.committed && self.log.term(index) == Some(self.vote.term);
        if is_new {
            self.commit_to(index);
            // Fewer members may be a majority of those that are left.
            if self.role == Role::Leader {
                self.commit_what_a_majority_has();
            }
            self.begin_waiting_reads();
            for other in self.others() {
                self.send_entries(other);
            }
        }
        is_new
    }

    /// Commits up to here.
    pub(super) fn commit_to(&mut self, index: u64) {
        while self.committed < index {
            let Some(entry) = self.log.get(self.committed + 1).cloned() else { return };
            self.committed += 1;
            if let Content::Members(members) = &entry.content
                && entry.index > self.members_since
            {
                self.members_since = entry.index;
                self.take_members(members.clone());
            }
            self.outcome.committed.push(entry);
        }
    }

    /// A later change in the log says that an earlier one is chosen, whether or not this member has heard that it is committed: it must not stand for election
    /// by members of long ago.
    fn take_members_in_force(&mut self) {
        let named = self.log.members_in_force().map(|(index, members)| (index, members.clone()));
        if let Some((index, members)) = named.filter(|(index, _)| *index > self.members_since) {
            self.members_since = index;
            self.take_members(members);
        }
    }

    fn take_members(&mut self, members: std::collections::BTreeSet<MemberId>) {
        self.members = members;
        let next = self.log.last_index() + 1;
        self.progress.retain(|id, _| self.members.contains(id));
        if self.role == Role::Leader {
            for member in &self.members {
                self.progress.entry(*member).or_insert_with(|| Progress::new(next));
            }
            if !self.members.contains(&self.id) {
                self.follow(self.vote.term, None);
            }
        }
    }

    fn changed_from(&mut self, index: u64) {
        let from = &mut self.outcome.changed_from;
        *from = Some(from.map_or(index, |earlier| earlier.min(index)));
    }
}
