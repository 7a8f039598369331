//! The faults of a file that is not a history.

use std::fmt;

/// A fault, its place, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The line, counted from 1; 0 if it is about the file as a whole.
    pub line: u64,
    /// The field, if it is about one.
    pub field: Option<String>,
    /// The mistake, and the remedy.
    pub message: String,
}

impl Fault {
    /// A fault of a line as a whole.
    pub(super) fn new(message: impl Into<String>) -> Fault {
        Fault { line: 0, field: None, message: message.into() }
    }

    /// A fault of a field.
    pub(super) fn of(field: &str, message: impl Into<String>) -> Fault {
        Fault { line: 0, field: Some(clipped(field)), message: message.into() }
    }

    /// The same fault, of this line.
    pub(super) fn at(self, line: u64) -> Fault {
        Fault { line, ..self }
    }
}

impl fmt::Display for Fault {
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
