//! The errors for which a version is not there.

use std::io;
use std::path::{Path, PathBuf};

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
    /// The registry serves something else.
    #[error("the checksum of {package} {version} is {found}, and {expected} is expected: it is not used")]
    Checksum {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// The checksum of what was fetched.
        found: String,
        /// The checksum in `bug.toml`.
        expected: String,
    },
    /// The directory cannot be used.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory or the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The error of a path.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> FetchError {
    move |source| FetchError::Directory { path: path.to_owned(), source }
}
