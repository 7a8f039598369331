//! Locks a bug: has the tool of the language choose the packages that each version needs, for `locked.toml`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tempfile::{NamedTempFile, TempDir};

use super::bug::{Bug, BugError, Pinned};
use super::cache::Cache;
use super::error::{FetchError, at};
use super::exhibit::Exhibit;
use super::fetch::write_files;
use super::field::Source;
use super::locked::{self, Locked, LockedVersion};
use super::tools;
use super::tools::package::Package;
use super::tools::workshop::{Tools, Workshop};

/// The text of `locked.toml` for a bug. The package itself must have the checksum of `bug.toml`.
///
/// # Errors
/// When a tool is missing or fails, the checksum is wrong, or a package comes from elsewhere than the registry.
pub fn lock(exhibit: &Exhibit, bug: &Bug, packages: &Path, stop: &AtomicBool) -> Result<String, FetchError> {
    exhibit.check(bug)?;
    let folder = Cache::open(packages)?.folder(&exhibit.name)?;
    let tools = Tools::of_the_user(stop);
    let mut versions: Vec<LockedVersion> = Vec::new();
    for (_, pinned) in bug.pinned() {
        if versions.iter().all(|locked| locked.version != pinned.version) {
            versions.push(of_version(exhibit, bug, pinned, &folder, &tools)?);
        }
    }
    let text = Locked::text(&versions);
    Locked::read(&exhibit.folder, &text, bug)?;
    Ok(text)
}

fn of_version(
    exhibit: &Exhibit,
    bug: &Bug,
    pinned: &Pinned,
    folder: &Path,
    tools: &Tools<'_>,
) -> Result<LockedVersion, FetchError> {
    let within = TempDir::with_prefix_in(".locking-", folder).map_err(at(folder))?;
    let workshop = Workshop::new(within.path(), tools)?;
    write_files(exhibit, &workshop.dir)?;
    let package = Package { name: &bug.package, version: &pinned.version, with: &bug.with };
    let locked = tools::lock(bug.registry, package, &workshop)?;
    // A package by an address or a path has no checksum of the registry, or no version.
    let source = Source { folder: &exhibit.folder, name: locked::FILE, text: "" };
    locked.check(bug.registry, &source)?;
    let is_own = |name: &str| bug.registry.is_same(name, &bug.package);
    let own = locked.packages.iter().find(|one| is_own(&one.name) && one.version == pinned.version);
    match own {
        Some(own) if own.checksum != pinned.checksum => Err(FetchError::Checksum {
            package: bug.package.clone(),
            version: pinned.version.clone(),
            found: own.checksum.clone(),
            expected: pinned.checksum.clone(),
        }),
        Some(_) => Ok(locked),
        None => Err(FetchError::NotLockable {
            package: format!("{} {}", bug.package, pinned.version),
            reason: "its adapter does not use it".to_owned(),
        }),
    }
}

/// Writes `locked.toml` into a folder, whole or not at all. A link of this name is replaced, and not followed.
///
/// # Errors
/// When the folder is not there, or cannot be written to.
pub fn write_locked(folder: &Path, text: &str) -> Result<PathBuf, BugError> {
    let path = folder.join(locked::FILE);
    let write = || {
        let file = NamedTempFile::new_in(folder)?;
        std::fs::write(file.path(), text)?;
        make_readable(file.path())?;
        file.persist(&path).map_err(|error| error.error)
    };
    match write() {
        Ok(_) => Ok(path),
        Err(source) => Err(BugError::Folder { path, source }),
    }
}

/// A temporary file is its owner's alone.
#[cfg(unix)]
fn make_readable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
