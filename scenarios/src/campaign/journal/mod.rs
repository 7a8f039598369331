//! What of a campaign is done, kept in a file while it goes on: one that was killed goes on from there, and the parts that
//! were made on several machines are put together.
//!
//! The file is JSON lines: first the header, then batch after batch of blocks that are done, each with what they
//! add up to. A line is written at once and then synced, so that only the last one can be torn; a torn line counts as not
//! written, and its blocks are run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::blocks::Blocks;
use super::request::Campaign;
use crate::files::write_whole;
use crate::tally::Tally;

mod error;
mod form;
mod identity;
mod merge;
mod part;

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
    file: Mutex<File>,
    /// The blocks that were done when it was opened.
    pub(super) done: BTreeSet<u64>,
    /// What they added up to.
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
        let text = serde_json::to_string(&header).map_err(io::Error::from);
        let io = |doing| move |source| JournalError::Io { path: path.to_owned(), doing, source };
        write_whole(path, &(text.map_err(io("write"))? + "\n")).map_err(io("write"))?;
        Journal::open(path, BTreeSet::new(), BTreeMap::new(), None)
    }

    /// Goes on with the journal of the same campaign.
    ///
    /// # Errors
    /// When it cannot be read, or is of another campaign.
    pub fn resume(path: &Path, campaign: &Campaign<'_>) -> Result<Journal, JournalError> {
        let part = Part::read(path)?;
        part.must_be_what(campaign)?;
        Journal::open(path, part.done, part.cells, Some(part.whole))
    }

    fn open(
        path: &Path,
        done: BTreeSet<u64>,
        before: BTreeMap<usize, Tally>,
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
            file.set_len(whole).map_err(io)?;
        }
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Journal { path: path.to_owned(), file: Mutex::new(file), done, before })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&self, batch: &Batch) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), doing: "write", source };
        let mut line = serde_json::to_vec(batch).map_err(|error| io(error.into()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(io)
    }
}
