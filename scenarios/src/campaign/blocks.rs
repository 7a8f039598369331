//! How the runs of a campaign are handed out to threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::request::Pairing;

/// Runs that a thread takes at a time, as far as they are of whole seeds: few, so that all threads have work in a small
/// campaign, and one that is out of time ends soon.
const BLOCK: u64 = 16;

/// Blocks of seeds of all designs that have runs, handed out one by one.
pub(super) struct Blocks {
    /// The cells of each design.
    designs: Vec<Vec<usize>>,
    seeds: Range<u64>,
    /// Seeds of a block.
    size: u64,
    next: AtomicU64,
}

/// What a thread takes at a time: the cells of a design, each to be run with all of the seeds.
pub(super) struct Block<'a> {
    pub(super) cells: &'a [usize],
    pub(super) seeds: Range<u64>,
}

impl Blocks {
    /// Of pairings that stand design by design, each with as many scenarios.
    pub(super) fn new(pairings: &[Pairing<'_>], scenarios: usize, seeds: &Range<u64>) -> Blocks {
        let all: Vec<usize> = (0..pairings.len()).collect();
        let runs = |cells: &[usize]| -> Vec<usize> {
            cells.iter().copied().filter(|cell| pairings[*cell].design.is_ok()).collect()
        };
        let mut designs: Vec<Vec<usize>> = all.chunks(scenarios.max(1)).map(runs).collect();
        designs.retain(|cells| !cells.is_empty());
        let most = designs.iter().map(Vec::len).max().unwrap_or(1) as u64;
        Blocks { designs, seeds: seeds.clone(), size: (BLOCK / most).max(1), next: AtomicU64::new(0) }
    }

    pub(super) fn take(&self) -> Option<Block<'_>> {
        let designs = self.designs.len() as u64;
        if designs == 0 {
            return None;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let from = self.seeds.start.checked_add((next / designs).checked_mul(self.size)?)?;
        let seeds = from..from.saturating_add(self.size).min(self.seeds.end);
        let cells = &self.designs[(next % designs) as usize];
        (!seeds.is_empty()).then_some(Block { cells, seeds })
    }
}
