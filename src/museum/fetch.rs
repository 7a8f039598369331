//! Fetches a version of a package, whole or not at all: into a directory beside its place, which is renamed when all is there and the
//! checksum is right.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::bug::{Bug, Pinned};
use super::error::{FetchError, at};
use super::exhibit::Exhibit;
use super::registry::package::Package;

/// The version of a package that a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The one that has the bug.
    Affected,
    /// The one that does not have it.
    Fixed,
}

impl Version {
    /// The version in a description; the control of a bug without a fix is the affected version.
    pub(super) fn of(self, bug: &Bug) -> &Pinned {
        match self {
            Version::Affected => &bug.affected,
            Version::Fixed => bug.fixed.as_ref().unwrap_or(&bug.affected),
        }
    }
}

/// The directory of a version with its adapter, fetched and built there unless it is there already.
///
/// # Errors
/// When a tool is missing or fails, as without a network, or the checksum is wrong. Nothing is left behind.
pub fn fetch(exhibit: &Exhibit, bug: &Bug, version: Version, packages: &Path) -> Result<PathBuf, FetchError> {
    let pinned = version.of(bug);
    let place = packages.join(&*exhibit.name).join(&pinned.version);
    // The adapter may have changed since.
    let stamp = place.join("bug.toml");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == stamp_of(exhibit)) {
        return Ok(place);
    }
    let parent = packages.join(&*exhibit.name);
    fs::create_dir_all(&parent).map_err(at(&parent))?;
    let beside = TempDir::with_prefix_in(".fetching-", &parent).map_err(at(&parent))?;
    for (name, text) in exhibit.files.iter() {
        let path = beside.path().join(&**name);
        fs::write(&path, &**text).map_err(at(&path))?;
    }
    let package = Package { name: &bug.package, version: &pinned.version, with: &bug.with };
    let found = bug.registry.fetch(package, beside.path())?;
    verify(bug, pinned, found)?;
    bug.registry.build(beside.path())?;
    let path = beside.path().join("bug.toml");
    fs::write(&path, stamp_of(exhibit)).map_err(at(&path))?;
    if place.exists() {
        fs::remove_dir_all(&place).map_err(at(&place))?;
    }
    fs::rename(beside.path(), &place).map_err(at(&place))?;
    // It has another name now.
    let _ = beside.keep();
    Ok(place)
}

/// Refuses a package whose checksum is not that of `bug.toml`.
pub(super) fn verify(bug: &Bug, pinned: &Pinned, found: String) -> Result<(), FetchError> {
    if found == pinned.checksum {
        return Ok(());
    }
    Err(FetchError::Checksum {
        package: bug.package.clone(),
        version: pinned.version.clone(),
        found,
        expected: pinned.checksum.clone(),
    })
}

/// The text that says from what a directory was made.
fn stamp_of(exhibit: &Exhibit) -> String {
    let files: String = exhibit.files.iter().map(|(name, text)| format!("\n# {name}\n{text}")).collect();
    format!("{}{files}", exhibit.text)
}
