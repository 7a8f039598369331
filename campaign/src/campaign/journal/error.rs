//! The errors of a journal.

use std::io;
use std::path::PathBuf;

use super::form::FORM;
use crate::files::remedy;

/// An error that makes a journal unusable.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("failed to {doing} {}: {source}{}", path.display(), what_to_do(doing, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A line is not one of a journal's.
    #[error("{}, line {line}: {problem}; a journal is not edited: take the file as it was written, or run this part again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// It is of another form, as another version of picklock writes it.
    #[error("{}, line 1: its form is {form}, and this picklock resumes only form {}: end the campaign with the picklock that started \
             it, or run it again", path.display(), FORM)]
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
        /// The differences.
        departs: String,
        /// The command that started it.
        command: String,
    },
    /// Somebody else writes it.
    #[error("another picklock is writing {}: wait until it has ended", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}

/// The lines that have been written stay, and the campaign can be resumed from them.
fn what_to_do(doing: &str, source: &io::Error) -> String {
    if doing == "write" {
        format!("; {}: --resume continues from what was kept so far", remedy(source))
    } else {
        String::new()
    }
}
