//! `index.html` of a store. Whoever begins or ends a run writes it anew, from what is kept of each run, in turn with others: so the
//! last one has all of them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::time::Duration;

use picklock_campaign::campaign::journal::FILE as JOURNAL;
use picklock_reports::html::{self, Row, STORE};

use super::found::{PAGE, is_alive, note, runs};
use super::links;
use super::name::{Name, now_in_words};

/// Whether this is our turn is asked so often, with so long in between: whoever holds the lock needs milliseconds. One that was
/// stopped meanwhile must not stop others.
const TRIES: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(10);
/// The mark of an index stands in its head, behind the styles.
const HEAD: u64 = 1 << 16;

/// The turn to change the store's links and index, until it is dropped. Where directories cannot be locked there are no turns.
pub(super) fn turn(store: &Path) -> Option<File> {
    let directory = File::open(store).ok()?;
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
pub(super) fn write(store: &Path, by: &Name) {
    let _turn = turn(store);
    let _ = write_anew(store, by);
}

/// The same in one's turn, at the end of a run. An index that cannot be written is no reason to lose results.
pub(super) fn write_in_turn(store: &Path, by: &Name) {
    let path = store.join(PAGE);
    let said = match write_anew(store, by) {
        Ok(true) => return,
        Ok(false) => "it is not picklock's, and stays as it is: there is no page over all runs".to_owned(),
        Err(error) => format!("failed to write it: {error}; the next run writes it anew"),
    };
    note(&format!("{}: {said}", path.display()));
}

/// `false` if there is a page that is somebody's.
fn write_anew(store: &Path, by: &Name) -> io::Result<bool> {
    let path = store.join(PAGE);
    if !is_ours(&path)? {
        return Ok(false);
    }
    let beside = links::beside(store, &by.to_string(), PAGE);
    let written = fs::write(&beside, page(store)?).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map(|()| true)
}

/// Whether the page is one that may be replaced.
fn is_ours(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
        Ok(about) if !about.is_file() => return Ok(false),
        Ok(_) => {}
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).contains(STORE))
}

fn page(store: &Path) -> io::Result<String> {
    let runs = runs(store).map_err(io::Error::other)?;
    let rows = runs.into_iter().map(|found| Row {
        folder: found.name.to_string(),
        at: found.name.at(),
        kind: found.name.kind.word().to_owned(),
        is_alive: is_alive(&found.folder),
        has_journal: found.folder.join(JOURNAL).is_file(),
        kept: found.kept,
    });
    Ok(html::index(&rows.collect::<Vec<_>>(), &now_in_words()))
}
