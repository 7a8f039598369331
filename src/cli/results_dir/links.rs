//! The links of a store: `latest`, and for what is in the newest run a link under its own name, so that `DIR/report.html` is the
//! report of the newest run. Each is replaced at once, by a link under another name that is then renamed.
//!
//! Only links of the store's own are replaced or removed. Whatever else has such a name is left as it is.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::journal;

use super::error::{ResultsDirError, reading, writing};
use super::name::Name;

/// The link to the newest run that has results.
pub(super) const LATEST: &str = "latest";

/// What stands under a name in a store.
enum Standing {
    Free,
    /// A link of the store's own.
    Ours(PathBuf),
    /// Something else, in words.
    Foreign(String),
}

fn standing(store: &Path, name: &str) -> io::Result<Standing> {
    let path = store.join(name);
    let what = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Standing::Free),
        about => about?.file_type(),
    };
    if !what.is_symlink() {
        return Ok(Standing::Foreign(if what.is_dir() { "a directory" } else { "a file" }.to_owned()));
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
    Ok(if is_ours {
        Standing::Ours(target)
    } else {
        Standing::Foreign(format!("a link to {}", target.display()))
    })
}

/// Refuses a store whose `latest` is not its own.
pub(super) fn check(store: &Path) -> Result<(), ResultsDirError> {
    let path = store.join(LATEST);
    match standing(store, LATEST).map_err(reading(&path))? {
        Standing::Foreign(what) => Err(ResultsDirError::Foreign { path, what }),
        Standing::Free | Standing::Ours(_) => Ok(()),
    }
}

/// Has the journal of this run stand in the store under its own name. `false` if something else has that name.
pub(super) fn journal(store: &Path, folder: &str) -> Result<bool, ResultsDirError> {
    lead(store, folder, journal::FILE, &Path::new(folder).join(journal::FILE))
}

/// Removes the link to a journal that is not there any more.
pub(super) fn no_journal(store: &Path) {
    let path = store.join(journal::FILE);
    if matches!(standing(store, journal::FILE), Ok(Standing::Ours(_))) && !path.exists() {
        let _ = fs::remove_file(path);
    }
}

/// Has `latest` lead to this run, and a link to each of these in it. Returns the names that something else has.
pub(super) fn latest(store: &Path, folder: &str, entries: &[&str]) -> Result<Vec<String>, ResultsDirError> {
    check(store)?;
    lead(store, folder, LATEST, Path::new(folder))?;
    let mut taken = Vec::new();
    for entry in entries {
        if !lead(store, folder, entry, &Path::new(LATEST).join(entry))? {
            taken.push((*entry).to_owned());
        }
    }
    for entry in fs::read_dir(store).map_err(reading(store))? {
        let Ok(name) = entry.map_err(reading(store))?.file_name().into_string() else { continue };
        let is_kept = [LATEST, journal::FILE].contains(&&*name) || entries.contains(&&*name);
        if !is_kept && matches!(standing(store, &name), Ok(Standing::Ours(_))) {
            fs::remove_file(store.join(&name)).map_err(writing(&store.join(&name)))?;
        }
    }
    Ok(taken)
}

/// Has a name lead there. `false` if it is not the store's.
fn lead(store: &Path, folder: &str, name: &str, target: &Path) -> Result<bool, ResultsDirError> {
    let path = store.join(name);
    match standing(store, name).map_err(reading(&path))? {
        Standing::Foreign(_) => return Ok(false),
        Standing::Ours(there) if there == target => return Ok(true),
        Standing::Free | Standing::Ours(_) => {}
    }
    let beside = beside(store, folder, name);
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(writing(&beside)(error)),
        _ => {}
    }
    link(target, &beside).and_then(|()| fs::rename(&beside, &path)).map_err(writing(&path))?;
    Ok(true)
}

/// Where the process that is at work on a run makes what is then renamed to this.
pub(super) fn beside(store: &Path, folder: &str, name: &str) -> PathBuf {
    store.join(format!(".{folder}.{name}"))
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
