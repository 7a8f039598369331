//! The page of a run while it goes on: in its folder, written anew every few seconds, and replaced at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_campaign::campaign::Judged;
use picklock_campaign::files::write_whole;
use picklock_reports::html::{Going, under_way};
use picklock_reports::manifest::Manifest;

use super::name::now_in_words;

/// How often the page is written.
const EVERY: Duration = Duration::from_secs(3);
/// So many cells are shown.
const CELLS: usize = 200;

/// The page of a run that goes on.
pub(crate) struct Live {
    path: PathBuf,
    command: String,
    shard: Option<String>,
    state: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// When the page was last written.
    last: Option<Duration>,
    /// Runs with a violation, by design and scenario.
    cells: BTreeMap<(String, String), u64>,
}

/// How far a run has come.
pub(crate) struct Progress {
    pub(crate) done: u64,
    pub(crate) of: Option<u64>,
    pub(crate) reporting: bool,
    pub(crate) violating: u64,
    pub(crate) elapsed: Duration,
}

impl Live {
    pub(super) fn begin(path: PathBuf, manifest: &Manifest) -> Live {
        Live {
            path,
            command: manifest.command.clone(),
            shard: manifest.shard.clone(),
            state: Mutex::default(),
        }
    }

    /// Notes a run that violates something.
    pub(crate) fn violated(&self, judged: &Judged<'_>) {
        let cell = (judged.design.to_owned(), judged.scenario.to_owned());
        *self.state.lock().unwrap_or_else(PoisonError::into_inner).cells.entry(cell).or_default() += 1;
    }

    /// Writes the page if it is time.
    pub(crate) fn shows(&self, progress: &Progress) {
        let mut seen = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.last.is_some_and(|last| progress.elapsed < last + EVERY) {
            return;
        }
        seen.last = Some(progress.elapsed);
        let mut cells: Vec<(&str, &str, u64)> =
            seen.cells.iter().map(|((design, scenario), runs)| (&**design, &**scenario, *runs)).collect();
        cells.sort_by_key(|(.., runs)| std::cmp::Reverse(*runs));
        cells.truncate(CELLS);
        let Progress { done, of, reporting, violating, elapsed } = *progress;
        let (command, shard, now) = (&*self.command, self.shard.as_deref(), now_in_words());
        let page = under_way(&Going { command, shard, done, of, reporting, violating, cells, elapsed, now });
        // An error of the disk is reported where results are lost by it.
        let _ = write_whole(&self.path, &page);
    }
}
