//! Several journals put together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::error::JournalError;
use super::part::Part;
use crate::campaign::blocks::Blocks;
use crate::request::Campaign;
use crate::request::shard::Shard;
use crate::tally::Tally;

/// An error that keeps journals from being merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// One of them cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The same runs are in two of them.
    #[error("{} and {} hold the same runs: is a shard given twice?", first.display(), second.display())]
    Twice {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Some runs are in none.
    #[error("the campaign is not complete; --partial shows what there is{}", lines(missing))]
    Missing {
        /// The missing runs, in words.
        missing: Vec<String>,
    },
}

fn lines(missing: &[String]) -> String {
    missing.iter().map(|line| format!("\n  {line}")).collect()
}

/// The sums of a campaign's journals, by cell, and whether they are all of it.
///
/// # Errors
/// When one of them is of another campaign, two hold the same runs, or, unless `partial`, some runs are in none.
pub(crate) fn merge(
    campaign: &Campaign<'_>,
    parts: Vec<Part>,
    partial: bool,
) -> Result<(Vec<Tally>, bool), MergeError> {
    for part in &parts {
        part.must_be_of(campaign)?;
    }
    let pairings = campaign.pairings();
    let blocks = Blocks::of(campaign, &pairings).count(None);
    let done: u64 = parts.iter().map(|part| part.progress().0).sum();
    refuse_doubles(&parts)?;
    if done < blocks && !partial {
        return Err(MergeError::Missing { missing: missing(&parts) });
    }
    let mut cells: BTreeMap<usize, Tally> = BTreeMap::new();
    for (cell, tally) in parts.into_iter().flat_map(|part| part.cells) {
        cells.entry(cell).or_default().merge(tally);
    }
    let tallies = (0..pairings.len()).map(|cell| cells.remove(&cell).unwrap_or_default()).collect();
    Ok((tallies, done == blocks))
}

fn refuse_doubles(parts: &[Part]) -> Result<(), MergeError> {
    let mut of: BTreeMap<u64, &Part> = BTreeMap::new();
    for part in parts {
        for block in &part.done {
            if let Some(first) = of.insert(*block, part) {
                return Err(MergeError::Twice { first: first.path.clone(), second: part.path.clone() });
            }
        }
    }
    Ok(())
}

/// Which shards are not there or not finished.
fn missing(parts: &[Part]) -> Vec<String> {
    let unfinished = parts.iter().filter(|part| !part.is_finished()).map(|part| {
        let (done, of) = part.progress();
        let name = part.shard().map_or("the campaign".to_owned(), |shard| format!("shard {shard}"));
        format!(
            "{name} is not finished, {done} of {of} blocks: resume it with {} --resume --out {}",
            part.command(),
            part.out()
        )
    });
    let there: BTreeSet<Shard> = parts.iter().filter_map(Part::shard).collect();
    let of = there.first().map_or(0, |shard| shard.of());
    let absent = Shard::all(of)
        .filter(|shard| !there.contains(shard))
        .map(|shard| format!("shard {shard} is not there"));
    unfinished.chain(absent).collect()
}
