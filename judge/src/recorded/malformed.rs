//! The error in a file that is not a history.

use std::fmt;

/// The error, its place, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Malformed {
    /// The line, counted from 1; 0 if it is about the file as a whole.
    pub line: u64,
    /// The field, if it is about one.
    pub field: Option<String>,
    /// The mistake, and the remedy.
    pub message: String,
}

impl Malformed {
    /// An error of a line as a whole.
    pub(super) fn new(message: impl Into<String>) -> Malformed {
        Malformed { line: 0, field: None, message: message.into() }
    }

    /// An error of a field.
    pub(super) fn of(field: &str, message: impl Into<String>) -> Malformed {
        Malformed { line: 0, field: Some(clipped(field)), message: message.into() }
    }

    /// The same error, of this line.
    pub(super) fn at(self, line: u64) -> Malformed {
        Malformed { line, ..self }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}: ", self.line)?;
        }
        if let Some(field) = &self.field {
            write!(f, "`{field}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// So much of a text as fits into a message.
pub(super) fn clipped(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.escape_debug().to_string();
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{}..", start.escape_debug())
}
