//! What can be wrong with a journal.

use std::io;
use std::path::PathBuf;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A line is not one of a journal's.
    #[error("{}, line {line}: {problem}; a journal is not edited: take the file as it was written, or run this part again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// It is of another campaign.
    #[error("{} is of another campaign: {departs}\nit was begun by: {command}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What is not the same.
        departs: String,
        /// The command that began it.
        command: String,
    },
    /// It is of a campaign that has not come to its end.
    #[error(
        "{} is of a campaign that is not finished: go on with it by --resume, or remove the file, or name another directory\n\
         it was begun by: {command}",
        path.display()
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The command that began it.
        command: String,
    },
    /// There is none.
    #[error("there is no {} to go on with: leave --resume out to begin", path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else writes it.
    #[error("another picklock is writing {}: wait until it has ended", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}
