//! Fetches a version of a package, whole or not at all: into a directory beside its place, which is renamed when all is there and built.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::bug::{Bug, BugError, Pinned};
use super::cache::Cache;
use super::error::{FetchError, at};
use super::exhibit::Exhibit;
use super::read;
use super::tools;
use super::tools::package::Package;
use super::tools::workshop::{Tools, Workshop};

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
/// When the description is refused or not locked, a tool is missing or fails, as without a network, or a checksum is wrong. Nothing is
/// left behind.
pub fn fetch(
    exhibit: &Exhibit,
    bug: &Bug,
    version: Version,
    packages: &Path,
    stop: &AtomicBool,
) -> Result<PathBuf, FetchError> {
    fetch_with(exhibit, bug, version, packages, &Tools::of_the_user(stop))
}

/// The same by these tools.
pub(super) fn fetch_with(
    exhibit: &Exhibit,
    bug: &Bug,
    version: Version,
    packages: &Path,
    tools: &Tools<'_>,
) -> Result<PathBuf, FetchError> {
    let pinned = version.of(bug);
    exhibit.check(bug)?;
    let locked = exhibit.locked(bug)?;
    let locked = locked.of(&pinned.version).ok_or_else(|| BugError::Unlocked(exhibit.folder.to_string()))?;
    let folder = Cache::open(packages)?.folder(&exhibit.name)?;
    let (place, is_there) = Cache::place(&folder, &pinned.version)?;
    if is_there && is_current(&place, exhibit) {
        return Ok(place);
    }
    let beside = TempDir::with_prefix_in(".fetching-", &folder).map_err(at(&folder))?;
    let workshop = Workshop::new(beside.path(), tools)?;
    let package = Package { name: &bug.package, version: &pinned.version, with: &bug.with };
    tools::fetch(bug.registry, package, locked, &workshop)?;
    // Behind the fetch: no tool reads a file of the adapter before it is built.
    write_files(exhibit, &workshop.dir)?;
    tools::build(bug.registry, &workshop)?;
    write(&workshop.dir, STAMP, &stamp_of(exhibit))?;
    if Cache::place(&folder, &pinned.version)?.1 {
        fs::remove_dir_all(&place).map_err(at(&place))?;
    }
    fs::rename(&workshop.dir, &place).map_err(at(&place))?;
    Ok(place)
}

/// Writes the files of a folder. Their names are checked.
pub(super) fn write_files(exhibit: &Exhibit, dir: &Path) -> Result<(), FetchError> {
    exhibit.files.iter().try_for_each(|(name, text)| write(dir, name, text))
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), FetchError> {
    let path = dir.join(name);
    fs::write(&path, text).map_err(at(&path))
}

/// The file that says from what a directory was made.
const STAMP: &str = "bug.toml";

/// True if a directory was made from this description, and still has the files of its adapter. The adapter may have changed since.
fn is_current(place: &Path, exhibit: &Exhibit) -> bool {
    let has = |name: &str, text: &str| read::text(&place.join(name)).is_ok_and(|there| there == text);
    has(STAMP, &stamp_of(exhibit)) && exhibit.files.iter().all(|(name, text)| has(name, text))
}

/// The text that says from what a directory was made.
fn stamp_of(exhibit: &Exhibit) -> String {
    let locked = exhibit.locked.as_deref().unwrap_or_default();
    let files = exhibit.files.iter().map(|(name, text)| format!("\n# {name}\n{text}"));
    let all: String = std::iter::once(format!("\n# locked.toml\n{locked}")).chain(files).collect();
    let digest = HEXLOWER.encode(&Sha256::digest(format!("{}{all}", exhibit.text)));
    format!(
        "# Fetched and built by picklock {} from a folder with the digest {digest}.\n",
        env!("CARGO_PKG_VERSION")
    )
}
