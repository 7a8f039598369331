//! Files of a fetch: what picklock writes for a tool, and what a tool has fetched.

use std::path::Path;

use crate::museum::error::{FetchError, at};
use crate::museum::locked::LockedPackage;

/// Refuses a locked package whose file has another checksum.
pub(super) fn verify(locked: &LockedPackage, found: String) -> Result<(), FetchError> {
    if found == locked.checksum {
        return Ok(());
    }
    Err(FetchError::Checksum {
        package: locked.package().to_owned(),
        version: locked.version.clone(),
        found,
        expected: locked.checksum.clone(),
    })
}

/// Writes a file in a directory of a fetch.
pub(super) fn write(dir: &Path, name: &str, text: &str) -> Result<(), FetchError> {
    let path = dir.join(name);
    std::fs::write(&path, text).map_err(at(&path))
}
