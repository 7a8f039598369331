//! The lines of a journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::request::shard::Shard;
use crate::tally::Tally;

/// The version of the file's form. Form 1 had no checksums, and form 2 did not count what was decided.
pub(super) const FORM: u32 = 3;

/// As much of the first line as every form has.
#[derive(Deserialize)]
pub(super) struct Form {
    pub(super) journal: u32,
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) journal: u32,
    /// The arguments that decide what is run and how it is judged.
    pub(super) args: Vec<String>,
    pub(super) shard: Option<Shard>,
    /// How many blocks it is to run.
    pub(super) blocks: u64,
    pub(super) campaign: Identity,
}

/// Every other line: blocks that are done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    pub(crate) blocks: Vec<u64>,
    /// Their sums, by cell.
    pub(crate) cells: BTreeMap<usize, Tally>,
}

impl Batch {
    pub(crate) fn add(&mut self, block: u64, cells: BTreeMap<usize, Tally>) {
        self.blocks.push(block);
        cells.into_iter().for_each(|(cell, tally)| self.cells.entry(cell).or_default().merge(tally));
    }
}
