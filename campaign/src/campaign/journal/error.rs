//! What can be wrong with a journal.

use std::io;
use std::path::PathBuf;

use super::form::FORM;
use crate::files::remedy;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("failed to {doing} {}: {source}{}", path.display(), what_to_do(doing, source))]
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
    /// It is of another form, as another version of picklock writes it.
    #[error("{}, line 1: its form is {form}, and this picklock goes on with form {} alone: end the campaign with the picklock that \
             began it, or run it again", path.display(), FORM)]
    Form {
        /// The file.
        path: PathBuf,
        /// Which form it is.
        form: u32,
    },
    /// It is of another campaign.
    #[error("{} belongs to another campaign ({departs}); it was started by: {command}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What is not the same.
        departs: String,
        /// The command that began it.
        command: String,
    },
    /// Somebody else writes it.
    #[error("another picklock is writing {}: wait until it has ended", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}

/// What has been written stays, and is gone on with.
fn what_to_do(doing: &str, source: &io::Error) -> String {
    if doing == "write" {
        format!("; {}: what was kept so far is gone on with by --resume", remedy(source))
    } else {
        String::new()
    }
}
