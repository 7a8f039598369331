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
}

impl SqlError {
    /// An error that ends the transaction.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> SqlError {
        let severity = Severity::Error;
        SqlError { severity, code, message: message.into(), detail: None, hint: None, position: None }
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
        SqlError::new("0A000", format!("{what} is not modelled"))
    }

    /// A message that breaks the protocol.
    pub(crate) fn protocol(message: impl Into<String>) -> SqlError {
        SqlError::new("08P01", message)
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
