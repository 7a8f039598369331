//! The blocks of runs that a campaign hands out to threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::request::shard::Shard;
use crate::request::{Campaign, Pairing};

/// Runs that a thread takes at a time, as far as they are of whole seeds: few, so that all threads have work in a small
/// campaign, and one that is out of time ends soon.
pub(super) const BLOCK: u64 = 16;

/// Blocks of seeds of all designs that have runs, handed out one by one.
pub(super) struct Blocks {
    /// The cells of each design.
    designs: Vec<Vec<usize>>,
    seeds: Range<u64>,
    /// Seeds of a block.
    size: u64,
    next: AtomicU64,
}

/// The unit of work of a thread: the cells of a design, each to be run with all of the seeds.
pub(super) struct Block<'a> {
    pub(super) number: u64,
    pub(super) cells: &'a [usize],
    pub(super) seeds: Range<u64>,
}

impl Blocks {
    /// Of the pairings of a campaign, which stand design by design, each with as many scenarios.
    pub(super) fn of(campaign: &Campaign<'_>, pairings: &[Pairing<'_>]) -> Blocks {
        let scenarios = campaign.scenarios.len();
        let all: Vec<usize> = (0..pairings.len()).collect();
        let runs = |cells: &[usize]| -> Vec<usize> {
            cells.iter().copied().filter(|cell| pairings[*cell].design.is_ok()).collect()
        };
        let mut designs: Vec<Vec<usize>> = all.chunks(scenarios.max(1)).map(runs).collect();
        designs.retain(|cells| !cells.is_empty());
        let most = designs.iter().map(Vec::len).max().unwrap_or(1) as u64;
        let (seeds, size) = (campaign.seeds.clone(), (BLOCK / most).max(1));
        Blocks { designs, seeds, size, next: AtomicU64::new(0) }
    }

    /// How many there are, in all or of a shard.
    pub(super) fn count(&self, shard: Option<Shard>) -> u64 {
        let rounds = (self.seeds.end - self.seeds.start).div_ceil(self.size);
        let designs = self.designs.len() as u64;
        shard.map_or(rounds.saturating_mul(designs), |shard| shard.share(rounds, designs))
    }

    /// The next wanted block; `wanted` is given a block's number and the number of designs.
    pub(super) fn take(&self, wanted: impl Fn(u64, u64) -> bool) -> Option<Block<'_>> {
        let designs = self.designs.len() as u64;
        if designs == 0 {
            return None;
        }
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let from = self.seeds.start.checked_add((number / designs).checked_mul(self.size)?)?;
            let seeds = from..from.saturating_add(self.size).min(self.seeds.end);
            if seeds.is_empty() {
                return None;
            }
            if wanted(number, designs) {
                return Some(Block { number, cells: &self.designs[(number % designs) as usize], seeds });
            }
        }
    }
}
