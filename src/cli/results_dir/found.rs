//! The saved runs that a results directory has.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::journal::{FILE as JOURNAL, Part};
use picklock_reports::manifest::{self, Manifest, Results, State};

use super::error::{ResultsDirError, reading};
use super::links;
use super::name::Name;
use crate::cli::exit::Exit;
use crate::cli::screen;

/// The page of a run, in its folder, and that of all runs, in the results directory.
pub(super) const PAGE: &str = "index.html";

/// A saved run.
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
}

/// The names of the runs in a results directory.
pub(super) fn names(dir: &Path) -> Result<impl Iterator<Item = Name>, ResultsDirError> {
    let entries = fs::read_dir(dir).map_err(reading(dir))?;
    Ok(entries.filter_map(|entry| Name::parse(entry.ok()?.file_name().to_str()?)))
}

/// The saved runs of a results directory, the newest first.
pub(super) fn runs(dir: &Path) -> Result<Vec<Found>, ResultsDirError> {
    let mut all = Vec::new();
    for name in names(dir)? {
        let folder = dir.join(name.to_string());
        let manifest = match fs::read_to_string(manifest::path_in(&folder)) {
            // It is just being begun.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => Err(error.to_string()),
            Ok(text) => Manifest::from_text(&text),
        };
        all.push(Found { name, folder, manifest: manifest.unwrap_or_else(|error| unreadable(&error)) });
    }
    all.sort_by(|one, other| other.name.cmp(&one.name));
    Ok(all)
}

/// The manifest for a run whose file cannot be read.
fn unreadable(error: &str) -> Manifest {
    let verdict = format!("{} cannot be read: {error}", manifest::FILE);
    let results = Results { exit: Exit::Usage.code(), verdict, ..Results::default() };
    Manifest { state: State::Ended, results: Some(results), ..Manifest::begun("", None) }
}

/// True if a process is at work on the run in a folder.
pub(super) fn is_alive(folder: &Path) -> bool {
    let file = File::open(manifest::path_in(folder));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Prints a note to standard error, beside the results.
pub(super) fn note(message: &str) {
    screen::complain(message);
}

pub(super) fn has_journal(found: &Found) -> bool {
    found.folder.join(JOURNAL).is_file()
}

/// Has the link to the journal that was begun last lead to the one before, once the folder of that one is removed.
pub(super) fn lead_back(dir: &Path) {
    // It is but a short way: who wants a journal finds it in its folder.
    if let Some(found) = runs(dir).ok().and_then(|all| all.into_iter().find(has_journal)) {
        let _ = links::journal(dir, &found.name.to_string());
    }
    links::no_journal(dir);
}

/// True if a folder has a journal that can be resumed.
pub(super) fn has_begun(folder: &Path) -> bool {
    let path = folder.join(JOURNAL);
    // One that cannot be read is not ours to throw away.
    path.exists() && Part::read(&path).map_or(true, |part| part.progress().0 > 0)
}
