//! The registries that packages come from: their names, and the form of what they serve.

use serde::Deserialize;

pub use self::pin::Pin;

mod grammar;
mod pin;

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

    /// Checks the features of a pin.
    ///
    /// # Errors
    /// What it may not have.
    pub(super) fn check_features(self, pin: &Pin) -> Result<(), String> {
        match self {
            Registry::Crates if !pin.has_plain_features() => {
                Err("a feature has letters, digits, `_`, `-`, `+`, `.` and `/`".to_owned())
            }
            Registry::Crates => Ok(()),
            _ if pin.is_version_alone() => Ok(()),
            _ => Err("crates alone have features: write a version".to_owned()),
        }
    }

    /// True if two names are those of one package.
    pub(super) fn is_same(self, one: &str, other: &str) -> bool {
        let normal = |name: &str| -> String {
            let lower = name.to_ascii_lowercase();
            let parts = lower.split(['-', '_', '.']).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join("-")
        };
        match self {
            Registry::Pypi => normal(one) == normal(other),
            _ => one == other,
        }
    }
}

/// True if a text is a version of the language Go, as `go.mod` has it.
pub(super) fn is_go_version(text: &str) -> bool {
    let is_number =
        |part: &str| !part.is_empty() && part.len() < 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text.split('.').count(), 2 | 3) && text.split('.').all(is_number)
}
