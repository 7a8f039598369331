//! The links of a results directory: `latest`, and for each file of the newest run a link under its own name, so that
//! `DIR/report.html` is the report of the newest run. Each is replaced at once, by a link under another name that is then
//! renamed.
//!
//! Only links that picklock made are replaced or removed. Whatever else has such a name is left as it is.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::journal;

use super::error::{ResultsDirError, reading, writing};
use super::name::Name;

/// The link to the newest run that has results.
pub(super) const LATEST: &str = "latest";

/// The entry under a name in a results directory.
enum Entry {
    Free,
    /// A link that picklock made.
    Ours(PathBuf),
    /// Something else, in words.
    Foreign(String),
}

fn entry_of(dir: &Path, name: &str) -> io::Result<Entry> {
    let path = dir.join(name);
    let what = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Entry::Free),
        about => about?.file_type(),
    };
    if !what.is_symlink() {
        return Ok(Entry::Foreign(if what.is_dir() { "a directory" } else { "a file" }.to_owned()));
    }
    let target = fs::read_link(&path)?;
    let of_a_run = |name: Option<&str>| name.is_some_and(|name| Name::parse(name).is_some());
    let is_ours = match name {
        LATEST => of_a_run(target.to_str()),
        journal::FILE => {
            target.file_name() == Some(name.as_ref()) && of_a_run(target.parent().and_then(Path::to_str))
        }
        _ => target == Path::new(LATEST).join(name),
    };
    Ok(if is_ours { Entry::Ours(target) } else { Entry::Foreign(format!("a link to {}", target.display())) })
}

/// Refuses a directory whose `latest` is not picklock's link.
pub(super) fn check(dir: &Path) -> Result<(), ResultsDirError> {
    let path = dir.join(LATEST);
    match entry_of(dir, LATEST).map_err(reading(&path))? {
        Entry::Foreign(what) => Err(ResultsDirError::Foreign { path, what }),
        Entry::Free | Entry::Ours(_) => Ok(()),
    }
}

/// Links to the journal of this run under its own name. `false` if something else has that name.
pub(super) fn journal(dir: &Path, folder: &str) -> Result<bool, ResultsDirError> {
    lead(dir, folder, journal::FILE, &Path::new(folder).join(journal::FILE))
}

/// Removes the link to a journal that is not there any more.
pub(super) fn no_journal(dir: &Path) {
    let path = dir.join(journal::FILE);
    if matches!(entry_of(dir, journal::FILE), Ok(Entry::Ours(_))) && !path.exists() {
        let _ = fs::remove_file(path);
    }
}

/// Has `latest` lead to this run, and a link to each of these in it. Returns the names that something else has.
pub(super) fn latest(dir: &Path, folder: &str, entries: &[&str]) -> Result<Vec<String>, ResultsDirError> {
    check(dir)?;
    lead(dir, folder, LATEST, Path::new(folder))?;
    let mut taken = Vec::new();
    for entry in entries {
        if !lead(dir, folder, entry, &Path::new(LATEST).join(entry))? {
            taken.push((*entry).to_owned());
        }
    }
    for entry in fs::read_dir(dir).map_err(reading(dir))? {
        let Ok(name) = entry.map_err(reading(dir))?.file_name().into_string() else { continue };
        let is_wanted = [LATEST, journal::FILE].contains(&&*name) || entries.contains(&&*name);
        if !is_wanted && matches!(entry_of(dir, &name), Ok(Entry::Ours(_))) {
            fs::remove_file(dir.join(&name)).map_err(writing(&dir.join(&name)))?;
        }
    }
    Ok(taken)
}

/// Links a name to a target. `false` if the name is not that of a link of picklock's.
fn lead(dir: &Path, folder: &str, name: &str, target: &Path) -> Result<bool, ResultsDirError> {
    let path = dir.join(name);
    match entry_of(dir, name).map_err(reading(&path))? {
        Entry::Foreign(_) => return Ok(false),
        Entry::Ours(there) if there == target => return Ok(true),
        Entry::Free | Entry::Ours(_) => {}
    }
    let beside = beside(dir, folder, name);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(writing(&beside)(error)),
        _ => {}
    }
    link(target, &beside).and_then(|()| fs::rename(&beside, &path)).map_err(writing(&path))?;
    Ok(true)
}

/// Where the process that is at work on a run makes what is then renamed to this.
pub(super) fn beside(dir: &Path, folder: &str, name: &str) -> PathBuf {
    dir.join(format!(".{folder}.{name}"))
}

/// The run whose process made this file, if it is such a one.
pub(super) fn whose(file: &str) -> Option<Name> {
    let (folder, _) = file.strip_prefix('.')?.split_once('.')?;
    Name::parse(folder)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
