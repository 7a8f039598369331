//! Reads that see everything that was committed before: a leader has a majority confirm that it leads, and then says up to where has to be
//! applied (ReadIndex).

use std::collections::BTreeSet;

use super::member::{NoLeader, Node, Role};
use super::reads::Read;
use crate::entry::MemberId;
use crate::message::Body;

impl Node {
    /// Has a read of its own confirmed, by a number of one's own.
    ///
    /// # Errors
    /// When nobody is known who leads. Otherwise it may still come to nothing.
    pub fn read(&mut self, number: u64) -> Result<(), NoLeader> {
        match self.leader {
            Some(leader) if leader == self.id => self.read_for(self.id, number),
            Some(leader) => self.send(leader, Body::Read { read: number }),
            None => return Err(NoLeader),
        }
        Ok(())
    }

    /// Begins a read of this member, if it leads.
    pub(super) fn read_for(&mut self, from: MemberId, theirs: u64) {
        if self.role != Role::Leader {
            return;
        }
        if self.log.term(self.committed) != Some(self.vote.term) {
            self.reads.early.push((from, theirs));
            return;
        }
        if self.members.len() == 1 {
            return self.answer(from, theirs, self.committed);
        }
        self.reads.count += 1;
        let confirmed_by = BTreeSet::from([self.id]);
        let number = self.reads.count;
        self.reads.open.push_back(Read { number, from, theirs, index: self.committed, confirmed_by });
        self.send_heartbeats();
    }

    /// Begins the reads that came too early.
    pub(super) fn begin_waiting_reads(&mut self) {
        for (from, theirs) in std::mem::take(&mut self.reads.early) {
            self.read_for(from, theirs);
        }
    }

    /// A member confirms the read of this number, and with it all earlier ones.
    pub(super) fn confirm(&mut self, by: MemberId, number: u64) {
        let Some(read) = self.reads.open.iter_mut().find(|read| read.number == number) else { return };
        read.confirmed_by.insert(by);
        let count = read.confirmed_by.len();
        if !self.is_majority(count) {
            return;
        }
        while let Some(read) = self.reads.open.pop_front_if(|read| read.number <= number) {
            self.answer(read.from, read.theirs, read.index);
        }
    }

    fn answer(&mut self, to: MemberId, theirs: u64, index: u64) {
        if to == self.id {
            self.outcome.readable.push((theirs, index));
        } else {
            self.send(to, Body::Readable { read: theirs, index });
        }
    }
}
