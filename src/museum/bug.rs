//! The description of one bug, as `bug.toml` has it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;

use super::field::Refused;
use super::registry::{Pin, Registry};

/// Runs that the fixed version makes at least.
pub(super) const RUNS_OF_TWIN: u64 = 100;

/// A bug of a library, and how it is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// The library, as its readers know it.
    pub library: String,
    /// Its language.
    pub language: String,
    /// The store that it runs on.
    pub store: String,
    /// The bug, in one sentence.
    pub summary: String,
    /// The address of the issue or the pull request in which it was reported or fixed.
    pub thread: Option<String>,
    /// The address of the source file that has it, where no thread describes it.
    pub source: Option<String>,
    /// The registry that has the package.
    pub registry: Registry,
    /// The package, as the registry names it.
    pub package: String,
    /// A version that has the bug.
    pub affected: Pinned,
    /// A version that does not have it.
    pub fixed: Option<Pinned>,
    /// Where no version is free of it: the same version, used in a way that avoids it.
    pub control: Option<Control>,
    /// Further packages of the same registry, by name, with their versions.
    #[serde(default)]
    pub with: BTreeMap<String, Pin>,
    /// How it is found.
    pub run: How,
    /// The last time that it was shown.
    pub shown: Shown,
}

/// A version of a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The version.
    pub version: String,
    /// The checksum of what the registry serves, in the form that is usual for it.
    pub checksum: String,
}

/// A use of the affected version that avoids the bug.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// What is different, in a phrase.
    pub statement: String,
    /// The command, if it is another one.
    pub command: Option<String>,
    /// Parameters of the scenario that are set beside those of the bug.
    #[serde(default)]
    pub set: Vec<String>,
}

/// How a bug is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct How {
    /// The command of the adapter; `{dir}` is the directory of the fetched version.
    pub command: String,
    /// Parameters of the program, as in `program{stores=3}:..`.
    #[serde(default)]
    pub program: BTreeMap<String, String>,
    /// The scenario, by name, or a file beside `bug.toml`.
    pub scenario: String,
    /// Parameters of the scenario, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// The fault that the scenario injects.
    pub fault: String,
    /// The invariant that is violated.
    pub invariant: String,
    /// Runs of the affected version.
    pub runs: u64,
}

/// The last time that a bug was shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The day.
    pub date: toml::value::Datetime,
    /// The version of picklock.
    pub picklock: String,
    /// Runs of the affected version that showed it.
    pub found: u64,
    /// Of so many.
    pub of: u64,
    /// Runs of the fixed version, or of the control, that showed nothing.
    pub silent: u64,
    /// Runs until the first violation.
    pub first: Option<u64>,
    /// The last time that it was shown by exploration.
    pub explore: Option<ShownExplored>,
}

/// The last time that a bug was shown by exploration; probe runs count as runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownExplored {
    /// The day.
    pub date: toml::value::Datetime,
    /// The version of picklock.
    pub picklock: String,
    /// Runs until the first violation.
    pub first: u64,
    /// Runs of the affected version that showed it.
    pub found: u64,
    /// Of so many.
    pub of: u64,
    /// Runs of the fixed version, or of the control, that showed nothing.
    pub silent: u64,
}

/// A description that is not one.
#[derive(Debug, thiserror::Error)]
pub enum BugError {
    /// The folder, or a file in it, cannot be read.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder or the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is not TOML, or a field is missing, unknown or of another type.
    #[error("{file}: {source}")]
    Toml {
        /// The file.
        file: String,
        /// The error, with its place.
        source: Box<toml::de::Error>,
    },
    /// A field has a value that is refused.
    #[error("{0}")]
    Field(Box<Refused>),
    /// The name of a folder is no name of a directory for packages.
    #[error(
        "{0}: `{1}` is no name of a museum folder: give the folder a name of letters, digits, `.`, `_` and `-`"
    )]
    FolderName(String, String),
    /// A file beside `bug.toml` has a name that is refused.
    #[error(
        "{0}: `{1}` is no name for a file of a museum folder: a name has letters, digits, `.`, `_` and `-`, and is none that a tool \
         reads as its settings; rename the file, or move it out of the folder"
    )]
    FileName(String, String),
    /// There are too many files.
    #[error("{0}: the folder has more than {1} files: keep `bug.toml`, the adapter and its scenario in it")]
    Files(String, usize),
    /// The packages are not locked.
    #[error("{0}: there is no locked.toml: write it with `picklock museum {0} --lock`")]
    Unlocked(String),
    /// There is nothing to compare the affected version with.
    #[error("{0}/bug.toml: give `fixed`, or `control` where no version is free of the bug, and not both")]
    Twin(String),
    /// Nothing says where the bug is described.
    #[error(
        "{0}/bug.toml: give `thread`, the address of an issue or a pull request, or `source`, the address of a source file, and not both"
    )]
    Link(String),
}

impl From<Refused> for BugError {
    fn from(refused: Refused) -> BugError {
        BugError::Field(Box::new(refused))
    }
}

impl Bug {
    /// Reads the description in a folder.
    ///
    /// # Errors
    /// When it is not one; the error names file, line and field.
    pub(super) fn read(folder: &str, text: &str) -> Result<Bug, BugError> {
        let bug: Bug = toml::from_str(text).map_err(|source| BugError::Toml {
            file: format!("{folder}/bug.toml"),
            source: Box::new(source),
        })?;
        if bug.fixed.is_some() == bug.control.is_some() {
            Err(BugError::Twin(folder.to_owned()))
        } else if bug.thread.is_some() == bug.source.is_some() {
            Err(BugError::Link(folder.to_owned()))
        } else {
            Ok(bug)
        }
    }

    /// The address of its thread, or of its source file.
    #[must_use]
    pub fn link(&self) -> &str {
        self.thread.as_deref().or(self.source.as_deref()).unwrap_or_default()
    }

    /// The versions that are fetched, with their fields.
    pub(super) fn pinned(&self) -> impl Iterator<Item = (&'static str, &Pinned)> {
        std::iter::once(("affected", &self.affected)).chain(self.fixed.iter().map(|fixed| ("fixed", fixed)))
    }

    /// The runs in which the fixed version must be silent: five times those of the affected version until the first violation, and 100.
    pub(super) fn runs_of_twin(&self, first: u64) -> u64 {
        (5 * first).max(RUNS_OF_TWIN)
    }
}
