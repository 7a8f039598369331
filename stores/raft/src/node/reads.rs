//! The reads that wait at a leader.

use std::collections::{BTreeSet, VecDeque};

use crate::entry::MemberId;

/// The reads that a leader answers.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Those that wait for a confirmation, in order.
    pub(super) open: VecDeque<Read>,
    /// Those that came before the leader knows what is committed: from whom, and their number.
    pub(super) early: Vec<(MemberId, u64)>,
    /// The number of the last one.
    pub(super) count: u64,
}

#[derive(Debug)]
pub(super) struct Read {
    pub(super) number: u64,
    pub(super) from: MemberId,
    /// Its number at the member from which it came.
    pub(super) theirs: u64,
    pub(super) index: u64,
    pub(super) confirmed_by: BTreeSet<MemberId>,
}

impl Reads {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.early.clear();
    }

    /// The number of the last one that waits; 0 if none does.
    pub(super) fn last(&self) -> u64 {
        self.open.back().map_or(0, |read| read.number)
    }
}
