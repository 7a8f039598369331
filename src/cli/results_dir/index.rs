//! `index.html` of a results directory. Each process that begins or ends a run writes it anew, from the manifests of all runs, in
//! turn with others: so the last one has all of them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::time::Duration;

use picklock_campaign::campaign::journal::FILE as JOURNAL;
use picklock_reports::html::{self, INDEX_MARK, Row};

use super::found::{PAGE, is_alive, note, runs};
use super::links;
use super::name::{Name, now_in_words};

/// The lock is tried so often, with so long in between: its holder needs milliseconds. A holder that was stopped meanwhile must
/// not stop others.
const TRIES: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(10);
/// The mark of an index stands in its head, behind the styles.
const HEAD: u64 = 1 << 16;

/// The turn to change the links and the index, until it is dropped. Where directories cannot be locked there are no turns.
pub(super) fn turn(dir: &Path) -> Option<File> {
    let directory = File::open(dir).ok()?;
    for _ in 0..TRIES {
        match directory.try_lock() {
            Ok(()) => return Some(directory),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(BETWEEN),
            Err(fs::TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Writes the index. `by` is whose run it is that changes. What is wrong with it is said at the end of a run, once.
pub(super) fn write(dir: &Path, by: &Name) {
    let _turn = turn(dir);
    let _ = write_anew(dir, by);
}

/// The same in one's turn, at the end of a run. An index that cannot be written is no reason to lose results.
pub(super) fn write_in_turn(dir: &Path, by: &Name) {
    let path = dir.join(PAGE);
    let said = match write_anew(dir, by) {
        Ok(true) => return,
        Ok(false) => "it is not picklock's, and stays as it is: there is no page over all runs".to_owned(),
        Err(error) => format!("failed to write it: {error}; the next run writes it anew"),
    };
    note(&format!("{}: {said}", path.display()));
}

/// `false` if there is a page that is somebody's.
fn write_anew(dir: &Path, by: &Name) -> io::Result<bool> {
    let path = dir.join(PAGE);
    if !is_ours(&path)? {
        return Ok(false);
    }
    let beside = links::beside(dir, &by.to_string(), PAGE);
    let written = fs::write(&beside, page(dir)?).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map(|()| true)
}

/// True if the page is one that may be replaced.
fn is_ours(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
        Ok(about) if !about.is_file() => return Ok(false),
        Ok(_) => {}
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).contains(INDEX_MARK))
}

fn page(dir: &Path) -> io::Result<String> {
    let runs = runs(dir).map_err(io::Error::other)?;
    let rows = runs.into_iter().map(|found| Row {
        folder: found.name.to_string(),
        at: found.name.at(),
        kind: found.name.kind.word().to_owned(),
        is_alive: is_alive(&found.folder),
        has_journal: found.folder.join(JOURNAL).is_file(),
        manifest: found.manifest,
    });
    Ok(html::index(&rows.collect::<Vec<_>>(), &now_in_words()))
}
