//! A journal as it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::chain::Chain;
use super::error::JournalError;
use super::form::{Batch, FORM, Form, Header};
use super::identity::Identity;
use crate::campaign::blocks::Blocks;
use crate::request::shard::Shard;
use crate::request::{Campaign, quoted};
use crate::tally::Tally;

/// The contents of a journal.
pub struct Part {
    pub(super) path: PathBuf,
    /// The directory that `--out` names to resume it.
    out: PathBuf,
    header: Header,
    pub(super) done: BTreeSet<u64>,
    pub(super) cells: BTreeMap<usize, Tally>,
    /// How long the file is up to the end of its last whole line.
    pub(super) whole: u64,
    /// The checksums up to that line.
    pub(super) chain: Chain,
}

impl Part {
    /// Reads a journal, whether its campaign has come to its end or not.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Part, JournalError> {
        let bytes = std::fs::read(path).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            doing: "read",
            source,
        })?;
        let bad = |line, problem| JournalError::Line { path: path.to_owned(), line, problem };
        let mut lines = Lines { rest: &bytes, chain: Chain::default(), whole: 0 };
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Ok(Form { journal: form }) = serde_json::from_slice(first)
            && form != FORM
        {
            return Err(JournalError::Form { path: path.to_owned(), form });
        }
        let header = lines.take().map_err(|problem| bad(1, problem.to_owned()))?;
        let header = header.ok_or_else(|| bad(1, "it has no whole first line".to_owned()))?;
        let header: Header = serde_json::from_slice(&header).map_err(|error| bad(1, what(&error)))?;
        let (mut done, mut cells) = (BTreeSet::new(), BTreeMap::<usize, Tally>::new());
        for number in 2.. {
            let Some(batch) = lines.take().map_err(|problem| bad(number, problem.to_owned()))? else { break };
            let batch: Batch = serde_json::from_slice(&batch).map_err(|error| bad(number, what(&error)))?;
            if let Some(block) = batch.blocks.into_iter().find(|block| !done.insert(*block)) {
                return Err(bad(number, format!("block {block} was done before")));
            }
            for (cell, tally) in batch.cells {
                cells.entry(cell).or_default().merge(tally);
            }
        }
        let Lines { chain, whole, .. } = lines;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let (path, out) = (path.to_owned(), directory.unwrap_or(Path::new(".")).to_owned());
        Ok(Part { path, out, header, done, cells, whole, chain })
    }

    /// The same journal, with its results directory as `--out` names it.
    #[must_use]
    pub fn in_results_dir(self, dir: &Path) -> Part {
        Part { out: dir.to_owned(), ..self }
    }

    /// The arguments that its campaign was asked for with, as far as they decide the results.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.header.args
    }

    /// Which shard it is; `None` if it is of the whole.
    #[must_use]
    pub fn shard(&self) -> Option<Shard> {
        self.header.shard
    }

    /// How many blocks are done, of how many.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.done.len() as u64, self.header.blocks)
    }

    /// True if all blocks are done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let (done, of) = self.progress();
        done >= of
    }

    /// The command that it was begun by.
    pub(super) fn command(&self) -> String {
        let shard = self.shard().map(|shard| format!(" --shard {shard}")).unwrap_or_default();
        let words: Vec<String> = self.args().iter().map(|word| quoted(word)).collect();
        format!("picklock {}{shard}", words.join(" "))
    }

    /// The directory that `--out` names to resume it, as a shell takes it.
    pub(super) fn out(&self) -> String {
        quoted(&self.out.display().to_string())
    }

    /// Refuses a journal of another campaign, or of another part of it.
    ///
    /// # Errors
    /// When it is, with what is not the same.
    pub fn must_be_what(&self, campaign: &Campaign<'_>) -> Result<(), JournalError> {
        self.must_be_of(campaign)?;
        if self.shard() == campaign.shard {
            return Ok(());
        }
        let spelled = |shard: Option<Shard>| shard.map_or("the whole".to_owned(), |shard| shard.to_string());
        let departs = format!("it is shard {}, not {}", spelled(self.shard()), spelled(campaign.shard));
        Err(JournalError::Other { path: self.path.clone(), departs, command: self.command() })
    }

    /// Refuses a journal of another campaign.
    pub(super) fn must_be_of(&self, campaign: &Campaign<'_>) -> Result<(), JournalError> {
        let other =
            |departs| JournalError::Other { path: self.path.clone(), departs, command: self.command() };
        match self.header.campaign.departs_from(&Identity::of(campaign)) {
            Some(departs) => Err(other(departs)),
            None if !self.fits(campaign) => Err(other("it has runs that there are not".to_owned())),
            None => Ok(()),
        }
    }

    /// True if all that it says is of blocks and cells that there are.
    fn fits(&self, campaign: &Campaign<'_>) -> bool {
        let pairings = campaign.pairings();
        let blocks = Blocks::of(campaign, &pairings).count(None);
        self.done.last().is_none_or(|last| *last < blocks)
            && self.cells.last_key_value().is_none_or(|(last, _)| *last < pairings.len())
    }
}

/// The lines of a journal, one after another.
struct Lines<'b> {
    rest: &'b [u8],
    chain: Chain,
    /// How long the lines were that were taken, each with its end.
    whole: u64,
}

impl Lines<'_> {
    /// The next line without its checksum. `None` after the last one that is whole: what is torn was not written. Only the end of
    /// a last line may be missing, or another byte stand in its place.
    ///
    /// # Errors
    /// When its checksum is another one, in words.
    fn take(&mut self) -> Result<Option<Vec<u8>>, &'static str> {
        let ends = self.rest.iter().position(|byte| *byte == b'\n');
        let (line, object) = match ends {
            Some(end) => (&self.rest[..end], Some(self.chain.open(&self.rest[..end])?)),
            None => {
                let but_one = &self.rest[..self.rest.len().saturating_sub(1)];
                let open = |line| Some((line, Some(self.chain.open(line).ok()?)));
                [self.rest, but_one].into_iter().find_map(open).unwrap_or((self.rest, None))
            }
        };
        self.rest = ends.map_or(&[], |end| &self.rest[end + 1..]);
        if object.is_some() {
            self.whole += line.len() as u64 + 1;
        }
        Ok(object)
    }
}

/// The error of a line, without its position in it: a journal has one value a line.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}
