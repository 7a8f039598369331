//! The tools of the languages. Each fetches the locked packages of a version into a directory, and checks their checksums before
//! anything of them is unpacked or run; then the adapter is built.

use self::package::Package;
use self::workshop::Workshop;
use super::error::FetchError;
use super::locked::LockedVersion;
use super::registry::Registry;

mod crates;
mod environment;
mod files;
mod go;
mod maven;
mod npm;
pub(super) mod package;
mod process;
mod pypi;
pub(super) mod workshop;

/// Fetches the locked packages of a version.
pub(super) fn fetch(
    registry: Registry,
    package: Package<'_>,
    locked: &LockedVersion,
    workshop: &Workshop<'_>,
) -> Result<(), FetchError> {
    match registry {
        Registry::Crates => crates::fetch(package, locked, workshop),
        Registry::Go => go::fetch(locked, workshop),
        Registry::Maven => maven::fetch(locked, workshop),
        Registry::Npm => npm::fetch(locked, workshop),
        Registry::Pypi => pypi::fetch(locked, workshop),
    }
}

/// Builds the adapter, in a language that needs it.
pub(super) fn build(registry: Registry, workshop: &Workshop<'_>) -> Result<(), FetchError> {
    match registry {
        Registry::Crates => crates::build(workshop),
        Registry::Go => go::build(workshop),
        Registry::Maven => maven::build(workshop),
        Registry::Npm | Registry::Pypi => Ok(()),
    }
}

/// Chooses the packages that a version needs, by the tool of the language; the adapter lies in the directory.
pub(super) fn lock(
    registry: Registry,
    package: Package<'_>,
    workshop: &Workshop<'_>,
) -> Result<LockedVersion, FetchError> {
    let (go, mut packages) = match registry {
        Registry::Crates => (None, crates::lock(package, workshop)?),
        Registry::Go => go::lock(package, workshop)?,
        Registry::Maven => (None, maven::lock(package, workshop)?),
        Registry::Npm => (None, npm::lock(package, workshop)?),
        Registry::Pypi => (None, pypi::lock(package, workshop)?),
    };
    packages.sort();
    Ok(LockedVersion { version: package.version.to_owned(), go, packages })
}
