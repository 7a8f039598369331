//! Errors as PostgreSQL reports them: a severity, a code (SQLSTATE), a message, sometimes a detail.

use std::fmt;

/// How bad it is, and what it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Says something that is in order.
    Notice,
    /// Says something and ends nothing.
    Warning,
    /// Ends the statement, and the transaction with it.
    Error,
    /// Ends the session.
    Fatal,
}

impl Severity {
    /// The word on the wire.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        }
    }
}

/// The error that a session is sent when something goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {code}: {message}", .severity.word())]
pub(crate) struct SqlError {
    /// How bad it is.
    pub(crate) severity: Severity,
    /// The SQLSTATE.
    pub(crate) code: &'static str,
    /// The message, in PostgreSQL's words.
    pub(crate) message: String,
    /// More, where PostgreSQL says more and it does not depend on the run.
    pub(crate) detail: Option<String>,
    /// The remedy, where PostgreSQL names one.
    pub(crate) hint: Option<&'static str>,
    /// For an error of syntax: where in the text, in characters from 1.
    pub(crate) position: Option<usize>,
    /// True for something of PostgreSQL that is not modelled: PostgreSQL itself would have answered.
    pub(crate) unmodelled: bool,
}

impl SqlError {
    /// An error that ends the transaction.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> SqlError {
        let severity = Severity::Error;
        let message = message.into();
        SqlError { severity, code, message, detail: None, hint: None, position: None, unmodelled: false }
    }

    /// An error that ends the session.
    pub(crate) fn fatal(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError { severity: Severity::Fatal, ..SqlError::new(code, message) }
    }

    /// A warning.
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError { severity: Severity::Warning, ..SqlError::new(code, message) }
    }

    /// A notice.
    pub(crate) fn notice(code: &'static str, message: impl Into<String>) -> SqlError {
        SqlError { severity: Severity::Notice, ..SqlError::new(code, message) }
    }

    /// Something of PostgreSQL that is not modelled.
    pub(crate) fn unsupported(what: impl fmt::Display) -> SqlError {
        SqlError { unmodelled: true, ..SqlError::new("0A000", format!("{what} is not modelled")) }
    }

    /// A message that breaks the protocol.
    pub(crate) fn protocol(message: impl Into<String>) -> SqlError {
        SqlError::new("08P01", message)
    }

    /// The same, sent for this statement: what is not modelled names it, and the remedy.
    pub(crate) fn of_statement(&self, text: &str) -> SqlError {
        let mut error = self.clone();
        if self.unmodelled {
            error.message = format!("{} (in `{}`); try --servers real", self.message, shortened(text));
        }
        error
    }

    /// The thing that is not modelled, with the statement that needs it; `None` for an error that PostgreSQL has too.
    pub(crate) fn missing(&self, text: &str) -> Option<String> {
        let what = self.message.strip_suffix(" is not modelled").unwrap_or(&self.message);
        self.unmodelled.then(|| format!("{what} (in `{}`)", shortened(text)))
    }

    pub(crate) fn with_detail(mut self, detail: String) -> SqlError {
        self.detail = Some(detail);
        self
    }

    pub(crate) fn with_hint(mut self, hint: &'static str) -> SqlError {
        self.hint = Some(hint);
        self
    }
}

/// The most characters of a statement that a message repeats.
const CHARS_MAX: usize = 100;

/// A statement on one line, without the values that differ from run to run.
fn shortened(text: &str) -> String {
    let mut line = String::new();
    for (nth, part) in text.split('\'').enumerate() {
        line.push_str(if nth % 2 == 0 { part } else { "'..'" });
    }
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_modelled_names_the_statement_and_the_remedy() {
        let error = SqlError::unsupported("the parameter search_path");
        let text = "SHOW\n  search_path -- 'secret'";
        assert_eq!(
            error.of_statement(text).message,
            "the parameter search_path is not modelled (in `SHOW search_path -- '..'`); try --servers real"
        );
        assert_eq!(error.missing(text).unwrap(), "the parameter search_path (in `SHOW search_path -- '..'`)");
        let other = SqlError::new("42703", "column \"x\" does not exist");
        assert_eq!((other.of_statement(text), other.missing(text)), (other, None));
        assert_eq!(shortened(&"x".repeat(300)).len(), CHARS_MAX + 2);
    }
}
