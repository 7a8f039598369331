//! The registries that packages come from. Each fetches a version into a directory by the tool of its language, and says the checksum
//! of what it got; then the adapter is built.

use std::path::Path;

use serde::Deserialize;

use self::package::Package;
use super::error::FetchError;

mod crates;
mod go;
mod maven;
mod npm;
pub(super) mod package;
mod pypi;
mod tool;

/// A registry of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Registry {
    /// crates.io; the checksum is the SHA-256 of the crate.
    #[serde(rename = "crates.io")]
    Crates,
    /// The Go module proxy; the checksum is that of `go.sum`.
    #[serde(rename = "Go")]
    Go,
    /// Maven Central; the package is `group:artifact`, the checksum the SHA-256 of its jar.
    #[serde(rename = "Maven Central")]
    Maven,
    /// npm; the checksum is the registry's `integrity`.
    #[serde(rename = "npm")]
    Npm,
    /// PyPI; the checksum is the SHA-256 of the distribution that pip chooses.
    #[serde(rename = "PyPI")]
    Pypi,
}

impl Registry {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Registry::Crates => "crates.io",
            Registry::Go => "Go",
            Registry::Maven => "Maven Central",
            Registry::Npm => "npm",
            Registry::Pypi => "PyPI",
        }
    }

    /// Fetches a version with its dependencies, and returns its checksum.
    pub(super) fn fetch(self, package: Package<'_>, dir: &Path) -> Result<String, FetchError> {
        match self {
            Registry::Crates => crates::fetch(package, dir),
            Registry::Go => go::fetch(package, dir),
            Registry::Maven => maven::fetch(package, dir),
            Registry::Npm => npm::fetch(package, dir),
            Registry::Pypi => pypi::fetch(package, dir),
        }
    }

    /// Builds the adapter, in a language that needs it.
    pub(super) fn build(self, dir: &Path) -> Result<(), FetchError> {
        match self {
            Registry::Crates => crates::build(dir),
            Registry::Go => go::build(dir),
            Registry::Maven => maven::build(dir),
            Registry::Npm | Registry::Pypi => Ok(()),
        }
    }
}
