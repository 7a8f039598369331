//! The errors of a results directory.

use std::io;
use std::path::{Path, PathBuf};

use picklock_campaign::files::remedy;

use crate::cli::exit::Failure;

/// An error that makes a results directory unusable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsDirError {
    /// Something cannot be written.
    #[error("failed to write {}: {source}; {}", path.display(), remedy(source))]
    Write { path: PathBuf, source: io::Error },
    /// Something cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// `--out` names the folder of one run.
    #[error("{} is the folder of a run, which is not written to twice: name the directory that it is in, --out {}",
        path.display(), dir.display())]
    IsRun { path: PathBuf, dir: PathBuf },
    /// `latest` is not a link of this directory's.
    #[error("{} is {what}, not a link of picklock's: move it away, or name another directory for --out", path.display())]
    Foreign { path: PathBuf, what: String },
    /// There is no shard to merge.
    #[error("{} has no campaign: name a directory that `picklock run --shard I/N --out DIR` has written to", dir.display())]
    NoShard { dir: PathBuf },
    /// There is no campaign to resume.
    #[error("no unfinished campaign in {}; start one without --resume", dir.display())]
    Nothing { dir: PathBuf },
}

impl From<ResultsDirError> for Failure {
    fn from(error: ResultsDirError) -> Failure {
        Failure::input(error)
    }
}

/// An error of writing this.
pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> ResultsDirError {
    move |source| ResultsDirError::Write { path: path.to_owned(), source }
}

/// An error of reading this.
pub(super) fn reading(path: &Path) -> impl Fn(io::Error) -> ResultsDirError {
    move |source| ResultsDirError::Read { path: path.to_owned(), source }
}
