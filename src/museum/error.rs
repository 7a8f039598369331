//! The errors for which a version is not there.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bug::BugError;

/// A version that is not there.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A tool of the language is not installed.
    #[error("{tool} is not installed")]
    NoTool {
        /// The program.
        tool: String,
    },
    /// A tool failed.
    #[error("`{command}` failed: {message}")]
    Tool {
        /// Its command line.
        command: String,
        /// The last line that it printed.
        message: String,
    },
    /// A tool has not ended in time.
    #[error("`{command}` has not ended within its time limit of {} s, and is killed", limit.as_secs())]
    TimeLimit {
        /// Its command line.
        command: String,
        /// The time that it has.
        limit: Duration,
    },
    /// The user interrupted the fetch.
    #[error("the fetch is interrupted")]
    Interrupted,
    /// The registry serves something else.
    #[error("the checksum of {package} {version} is {found}, and {expected} is expected: it is not used")]
    Checksum {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// The checksum of what was fetched.
        found: String,
        /// The checksum in `bug.toml` or `locked.toml`.
        expected: String,
    },
    /// A tool found that the registry serves something else.
    #[error("a checksum is not that of locked.toml, and nothing is used: `{command}`: {message}")]
    Mismatch {
        /// The command line of the tool.
        command: String,
        /// The lines in which it says so.
        message: String,
    },
    /// A version cannot be locked.
    #[error("{package} cannot be locked: {reason}")]
    NotLockable {
        /// The package.
        package: String,
        /// The reason, with the remedy.
        reason: String,
    },
    /// The directory for packages has something that picklock did not put there.
    #[error("{}: it is {what}, and picklock follows and removes none below the directory for packages: remove it", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// The description or `locked.toml` is refused.
    #[error(transparent)]
    Bug(#[from] BugError),
    /// The directory cannot be used.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory or the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl FetchError {
    /// True if the package, the folder or the directory for packages is refused; false if a package is merely not there.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            FetchError::Checksum { .. }
                | FetchError::Mismatch { .. }
                | FetchError::Foreign { .. }
                | FetchError::Bug(_)
        )
    }
}

/// The error of a path.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> FetchError {
    move |source| FetchError::Directory { path: path.to_owned(), source }
}
