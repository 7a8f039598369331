//! The journal of a campaign: a file that holds the runs that are done. A campaign that was killed resumes from it, and parts
//! that were made on several machines are merged.
//!
//! The file is JSON lines: first the header, then batch after batch of blocks that are done, each with what they
//! add up to. A line is written at once and then synced, so that only the last one can be torn; a torn line counts as not
//! written, and its blocks are run again. Each line has a checksum, of which `chain` says what it is of: what was damaged
//! otherwise is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::blocks::Blocks;
use crate::files::write_whole;
use crate::request::Campaign;
use crate::tally::Tally;

mod chain;
mod error;
mod form;
mod identity;
mod merge;
mod part;

use self::chain::Chain;
pub use self::error::JournalError;
pub(super) use self::form::Batch;
use self::form::{FORM, Header};
use self::identity::Identity;
pub use self::merge::MergeError;
pub(super) use self::merge::merge;
pub use self::part::Part;

/// The name of the file in the directory that results are written to.
pub const FILE: &str = "journal.jsonl";

/// A journal that is being written.
pub struct Journal {
    path: PathBuf,
    file: Mutex<(File, Chain)>,
    /// The blocks that were done when it was opened.
    pub(super) done: BTreeSet<u64>,
    /// Their sums.
    pub(super) before: BTreeMap<usize, Tally>,
}

impl Journal {
    /// Begins the journal of a campaign that these arguments ask for.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(path: &Path, campaign: &Campaign<'_>, args: Vec<String>) -> Result<Journal, JournalError> {
        let pairings = campaign.pairings();
        let blocks = Blocks::of(campaign, &pairings).count(campaign.shard);
        let header =
            Header { journal: FORM, args, shard: campaign.shard, blocks, campaign: Identity::of(campaign) };
        let io = |doing| move |source| JournalError::Io { path: path.to_owned(), doing, source };
        let text = serde_json::to_vec(&header).map_err(io::Error::from).map_err(io("write"))?;
        let mut chain = Chain::default();
        let text = String::from_utf8(chain.seal(&text)).expect("JSON is text");
        write_whole(path, &(text + "\n")).map_err(io("write"))?;
        Journal::open(path, BTreeSet::new(), BTreeMap::new(), chain, None)
    }

    /// Continues the journal of the same campaign.
    ///
    /// # Errors
    /// When it cannot be read, or is of another campaign.
    pub fn resume(path: &Path, campaign: &Campaign<'_>) -> Result<Journal, JournalError> {
        let part = Part::read(path)?;
        part.must_be_what(campaign)?;
        Journal::open(path, part.done, part.cells, part.chain, Some(part.whole))
    }

    fn open(
        path: &Path,
        done: BTreeSet<u64>,
        before: BTreeMap<usize, Tally>,
        chain: Chain,
        whole: Option<u64>,
    ) -> Result<Journal, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), doing: "write", source };
        let mut file = File::options().write(true).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(JournalError::InUse { path: path.to_owned() });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(io(error)),
        }
        if let Some(whole) = whole {
            // The last line may lack its end alone.
            file.set_len(whole - 1).map_err(io)?;
            file.seek(SeekFrom::End(0)).map_err(io)?;
            file.write_all(b"\n").map_err(io)?;
        }
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Journal { path: path.to_owned(), file: Mutex::new((file, chain)), done, before })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&self, batch: &Batch) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), doing: "write", source };
        let line = serde_json::to_vec(batch).map_err(|error| io(error.into()))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, chain) = &mut *file;
        let mut line = chain.seal(&line);
        line.push(b'\n');
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(io)
    }
}
