//! The counters of INFO.

use std::collections::BTreeMap;

use super::sent::{CallCounts, Calls};

/// The counters of a node since it started, or since CONFIG RESETSTAT.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) connections: u64,
    pub(crate) commands: u64,
    /// Connections that were one too many.
    pub(crate) rejected: u64,
    /// Replicas that were sent everything; those that got what they lacked, and those that wanted that in vain.
    pub(crate) full_copies: u64,
    pub(crate) resumed: u64,
    pub(crate) not_resumed: u64,
    /// Commands that were not executed.
    pub(crate) refused: u64,
    pub(crate) errors: u64,
    /// When the first client came, and when the dataset was last saved, in milliseconds of the wall clock.
    pub(crate) started_ms: Option<i64>,
    pub(crate) saved_ms: Option<i64>,
    /// How many commands have changed something since then. Redis counts some of them for each element.
    pub(crate) changes: u64,
    pub(crate) calls: CallCounts,
    /// Errors by their first word.
    pub(crate) by_error: BTreeMap<String, u64>,
}

/// The number of kinds of errors that are distinguished: a script may make up any number of them.
const KINDS_MAX: usize = 128;

impl Stats {
    /// The counters of a command.
    pub(crate) fn of(&mut self, nth: usize) -> &mut Calls {
        self.calls.of(nth)
    }

    /// Counts an error that was replied.
    pub(crate) fn count_error(&mut self, text: &str) {
        self.errors += 1;
        let kind = text.split(' ').next().unwrap_or_default();
        if let Some(count) = self.by_error.get_mut(kind) {
            *count += 1;
        } else if self.by_error.len() < KINDS_MAX {
            self.by_error.insert(kind.to_owned(), 1);
        }
    }
}
