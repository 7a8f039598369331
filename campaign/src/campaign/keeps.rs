//! The record of the finished blocks of a campaign while it runs.

use super::error::{CampaignError, PartError};
use super::journal::{Batch, Journal};
use crate::tally::Tally;

/// Where a campaign keeps what it has done, and has what was done before.
pub(super) trait Keeps: Sync {
    type Error: From<CampaignError> + Send;
    /// True if a block was done before.
    fn has(&self, block: u64) -> bool;
    /// The sums of the blocks that were done before, by cell.
    fn before(&self) -> impl Iterator<Item = (&usize, &Tally)>;
    /// Keeps what is done. When this returns, it is on the disk.
    fn append(&self, batch: &Batch) -> Result<(), Self::Error>;
}

/// Of a campaign that is made in one go nothing is kept.
pub(super) struct Nowhere;

impl Keeps for Nowhere {
    type Error = CampaignError;

    fn has(&self, _: u64) -> bool {
        false
    }

    fn before(&self) -> impl Iterator<Item = (&usize, &Tally)> {
        std::iter::empty()
    }

    fn append(&self, _: &Batch) -> Result<(), CampaignError> {
        Ok(())
    }
}

impl Keeps for Journal {
    type Error = PartError;

    fn has(&self, block: u64) -> bool {
        self.done.contains(&block)
    }

    fn before(&self) -> impl Iterator<Item = (&usize, &Tally)> {
        self.before.iter()
    }

    fn append(&self, batch: &Batch) -> Result<(), PartError> {
        Ok(self.write(batch)?)
    }
}
