//! The directory for packages. What is made or removed there is a component below it, and no link is followed on the way.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{FetchError, at};

/// The directory for packages, by its real path.
pub(super) struct Cache(PathBuf);

impl Cache {
    /// Makes it if it is not there. Links that lead to it are the user's own.
    pub(super) fn open(packages: &Path) -> Result<Cache, FetchError> {
        fs::create_dir_all(packages).map_err(at(packages))?;
        fs::canonicalize(packages).map(Cache).map_err(at(packages))
    }

    /// The directory of a bug, made if it is not there.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, FetchError> {
        let path = self.0.join(component(name, &self.0)?);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(at(&path)(error)),
            _ => is_there(&path)?,
        };
        Ok(path)
    }

    /// The place of a version in the directory of a bug, and whether there is a directory.
    pub(super) fn place(folder: &Path, version: &str) -> Result<(PathBuf, bool), FetchError> {
        let path = folder.join(component(version, folder)?);
        let is_there = is_there(&path)?;
        Ok((path, is_there))
    }
}

/// A name that is one component: not absolute, not `..`, without a separator.
fn component<'a>(name: &'a str, within: &Path) -> Result<&'a str, FetchError> {
    let is_one = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0', ':']);
    is_one.then_some(name).ok_or_else(|| FetchError::Foreign { path: within.join("?"), what: "no name" })
}

/// True if there is a directory, false if there is nothing.
fn is_there(path: &Path) -> Result<bool, FetchError> {
    let kind = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        about => about.map_err(at(path))?.file_type(),
    };
    let foreign = |what| FetchError::Foreign { path: path.to_owned(), what };
    match () {
        () if kind.is_dir() => Ok(true),
        () if kind.is_symlink() => Err(foreign("a link")),
        () => Err(foreign("a file")),
    }
}
